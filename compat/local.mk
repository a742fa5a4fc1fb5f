# compat/local.mk - the files of this room.
