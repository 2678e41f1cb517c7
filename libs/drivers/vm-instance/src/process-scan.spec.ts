import { instanceNamedIn } from './process-scan';

const ROOT = '/var/lib/inquest/machines';

describe('instanceNamedIn', () => {
  it.each([
    ['a path', `${ROOT}/m1/vmm/serial.sock`],
    ['an option with a path in it', `socket,id=mux,path=${ROOT}/m1/vmm/mux.sock,server=on`],
    ['the directory itself', `${ROOT}/m1/vmm`],
  ])('finds the instance in %s', (_, argument) => {
    expect(instanceNamedIn(argument, ROOT)).toBe(`${ROOT}/m1`);
  });

  it.each([
    ['a file outside of vmm/', `${ROOT}/m1/instance.json`],
    ['a directory that only begins like vmm', `${ROOT}/m1/vmm-old/x`],
    ['another root', `${ROOT}-old/m1/vmm/x`],
    ['the root without an instance', `${ROOT}//vmm/x`],
    ['nothing', ''],
  ])('finds none in %s', (_, argument) => {
    expect(instanceNamedIn(argument, ROOT)).toBeNull();
  });
});
