import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { freePort } from '@inquest/testing';
import { Internet } from './internet';
import { describeHostNetwork } from './testing';

const ADDRESS = '127.0.0.1';

/** DNS (RFC 1035, 4.1): the fields that a name server of one name needs. */
const HEADER_BYTES = 12;
const TYPE_A = 1;
const RESPONSE = 0x8180;
const NAME_ERROR = 0x8183;

/** A name server that knows `example.test` and never answers about `silent.test`. */
async function startNameServer(): Promise<{ readonly socket: Socket; readonly address: string }> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const answer = answerTo(query);
    if (answer !== null) socket.send(answer, from.port, from.address);
  });
  socket.bind(0, ADDRESS);
  await once(socket, 'listening');
  return { socket, address: `${ADDRESS}:${socket.address().port}` };
}

function answerTo(query: Buffer): Buffer | null {
  const end = query.indexOf(0, HEADER_BYTES);
  const name = query.toString('latin1', HEADER_BYTES, end);
  if (name.includes('silent')) return null;
  const question = query.subarray(HEADER_BYTES, end + 5);
  const isKnown = name.includes('example');
  const hasAddress = isKnown && query.readUInt16BE(end + 1) === TYPE_A;
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(isKnown ? RESPONSE : NAME_ERROR, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(hasAddress ? 1 : 0, 6);
  // A pointer to the name of the question, type A, class IN, 60 s, four bytes of address.
  const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([header, question, ...(hasAddress ? [record] : [])]);
}

describeHostNetwork('Internet', async () => {
  const names = await startNameServer();
  const echo = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket)).listen(0, ADDRESS);
  await once(echo, 'listening');
  return {
    network: new Internet({ nameServers: [names.address] }),
    address: ADDRESS,
    port: (echo.address() as AddressInfo).port,
    deadPort: await freePort(),
    silentName: 'silent.test',
    dispose: async () => {
      names.socket.close();
      echo.close();
      await once(echo, 'close');
    },
  };
});
