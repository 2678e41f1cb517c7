import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { StreamTicket } from '@inquest/contracts-base';
import type { ModelMessage } from '@inquest/model-client';
import { MODEL_PICTURE_MAX_BYTES, showPicture } from './show-picture';

const PNG = Buffer.from('png');
const never = new AbortController().signal;

describe('a picture that a model is shown', () => {
  let node: Server;
  let ticket: StreamTicket;
  let answer: (response: ServerResponse) => void;

  beforeAll(async () => {
    node = createServer((_, response) => answer(response));
    await once(node.listen(0, '127.0.0.1'), 'listening');
    const { port } = node.address() as AddressInfo;
    ticket = { url: `http://127.0.0.1:${port}/v1/pictures/1`, method: 'GET', expiresAtMs: 0 };
  });
  afterAll(async () => {
    node.closeAllConnections();
    node.close();
    await once(node, 'close');
  });
  beforeEach(() => (answer = (response) => void response.end(PNG)));

  it('takes the place of an older one, which is only told of', async () => {
    const messages: ModelMessage[] = [{ role: 'user', text: 'go' }];
    await showPicture(messages, ticket, never);
    messages.push({ role: 'assistant', text: 'I see', toolCalls: [] });
    await showPicture(messages, ticket, never);
    expect(messages).toEqual([
      { role: 'user', text: 'go' },
      { role: 'user', text: 'An older picture.' },
      { role: 'assistant', text: 'I see', toolCalls: [] },
      { role: 'user', text: 'The picture.', picture: PNG },
    ]);
  });

  it.each([
    [
      'is too large for one',
      (response: ServerResponse) => void response.end(Buffer.alloc(MODEL_PICTURE_MAX_BYTES + 1)),
      /too large/,
    ],
    ['is refused', (response: ServerResponse) => void response.writeHead(403).end(), /no picture: .*403/],
    [
      'breaks off',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write(PNG, () => response.destroy());
      },
      /no picture: /,
    ],
  ])('is a text that says why, where it %s', async (_, answered, text) => {
    answer = answered;
    const messages: ModelMessage[] = [];
    await showPicture(messages, ticket, never);
    expect(messages).toEqual([{ role: 'user', text: expect.stringMatching(text) }]);
  });

  it('is waited for no longer than the run goes on', async () => {
    const run = new AbortController();
    answer = () => run.abort(new Error('the run was cancelled'));
    const messages: ModelMessage[] = [];
    await expect(showPicture(messages, ticket, run.signal)).rejects.toThrow('the run was cancelled');
    expect(messages).toEqual([]);
  });
});
