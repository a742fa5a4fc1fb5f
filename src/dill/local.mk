# src/dill/local.mk - our runtime; left out when the system has a libdill.
