// warcio.mjs - reads archives with warcio, a reader that is not ours, and says
// what it found: records by type, answers with chunks and with compression, and
// every length or digest that does not hold. Run by tests/warcio.t, which puts
// warcio beside a copy of this file.
import {WARCParser, AsyncIterReader} from 'warcio';
import crypto from 'crypto';
import fs from 'fs';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function sha1(bytes) {
  let bits = 0n, text = '';
  for (const byte of crypto.createHash('sha1').update(bytes).digest()) bits = bits << 8n | BigInt(byte);
  for (let i = 31n; i >= 0n; i--) text += letters[Number(bits >> (i * 5n) & 31n)];
  return 'sha1:' + text;
}

const found = {};
const count = (what) => { found[what] = (found[what] || 0) + 1; };
const wrong = (what, record) => { count('wrong'); console.log(`wrong ${what}: ${record.warcType} ${record.warcTargetURI}`); };

async function checkAnswer(record, raw) {
  const end = raw.indexOf('\r\n\r\n') + 4, head = raw.subarray(0, end).toString('latin1');
  let body = raw.subarray(end);
  if (/^transfer-encoding: *chunked/mi.test(head)) {
    count('chunked');
    body = Buffer.from(await new AsyncIterReader([new Uint8Array(body)], null, true).readFully());
  }
  if (/^content-encoding: *gzip/mi.test(head)) {
    count('gzip');
    const text = await new AsyncIterReader([new Uint8Array(body)], 'gzip').readFully();
    if (!text.length) wrong('compression', record);
  }
  if (record.warcPayloadDigest !== sha1(body)) wrong('payload digest', record);
}

for (const file of process.argv.slice(2)) {
  for await (const record of new WARCParser(fs.createReadStream(file), {parseHttp: false})) {
    const raw = Buffer.from(await record.readFully(false));
    count(record.warcType);
    if (raw.length !== record.warcContentLength) wrong('length', record);
    if (record.warcBlockDigest !== sha1(raw)) wrong('block digest', record);
    if (!/^WARC\/1\.1/.test(record.warcHeaders.statusline)) wrong('version', record);
    if (record.warcType === 'response') await checkAnswer(record, raw);
    if (record.warcType === 'revisit' && !record.warcRefersToTargetURI) wrong('revisit', record);
  }
}
for (const what of Object.keys(found).sort()) console.log(`${what} ${found[what]}`);
