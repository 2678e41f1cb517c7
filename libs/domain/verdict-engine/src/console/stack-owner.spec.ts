import { StackOwner } from './stack-owner';

const CPU_LINE = (pid: number): string => `CPU: 0 UID: 0 PID: ${pid} Comm: any/thing Not tainted 6.6.0 #1`;

describe('StackOwner', () => {
  it.each([
    'WARNING: CPU: 0 PID: 77 at kernel/foo.c:1 foo+0x1/0x2',
    'WARNING: kernel/foo.c:1 at foo+0x1/0x2, CPU#3: kworker/3:1/77',
    'INFO: task kworker/u8:3:77 blocked for more than 120 seconds.',
    'watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [a:b:77]',
    'Read of size 8 at addr ffff888000000000 by task kworker/1:2/77',
    'BUG: scheduling while atomic: swapper/0/77/0x00000100',
    'BUG: using __this_cpu_read() in preemptible [00000000] code: a/77',
    'BUG: rwlock bad magic on CPU#0, a/77, ffff888000000000',
    'in_atomic(): 1, irqs_disabled(): 0, non_block: 0, pid: 77, name: a',
    'a/77 is trying to acquire lock:',
    'a/77 [HC0[0]:SC0[0]:HE1:SE1] takes:',
    '2 locks held by a/77:',
  ])('knows its task from "%s"', (line) => {
    const owner = new StackOwner(line);
    owner.follow(CPU_LINE(78));
    expect(owner.isOwn).toBe(false);
    expect(owner.follow(CPU_LINE(77))).toBe(true);
    expect(owner.isOwn).toBe(true);
  });

  it('takes every stack for its own when no line names a task', () => {
    const owner = new StackOwner('general protection fault: 0000 [#1] SMP');
    expect(owner.follow(CPU_LINE(78))).toBe(false);
    expect(owner.isOwn).toBe(true);
  });

  it('says only once that the own stack begins', () => {
    const owner = new StackOwner('2 locks held by a/77:');
    expect(owner.follow(CPU_LINE(77))).toBe(true);
    expect(owner.follow(CPU_LINE(77))).toBe(false);
  });

  it('leaves out what an object or a page has been through, until the next call trace', () => {
    const owner = new StackOwner('BUG: Bad page state in process a  pfn:1');
    owner.follow('page last allocated via order 0, migratetype Unmovable');
    expect(owner.isOwn).toBe(false);
    owner.follow('Call Trace:');
    expect(owner.isOwn).toBe(true);
  });

  it('leaves out the stall detector, until a processor is shown', () => {
    const owner = new StackOwner('INFO: rcu_sched self-detected stall on CPU');
    owner.follow('RCU grace-period kthread stack dump:');
    owner.follow('Call Trace:');
    expect(owner.isOwn).toBe(false);
    owner.follow('NMI backtrace for cpu 0');
    expect(owner.isOwn).toBe(true);
  });

  it('awaits the stack of a warning that has named its task', () => {
    const owner = new StackOwner('WARNING: CPU: 0 PID: 77 at kernel/foo.c:1 foo+0x1/0x2');
    expect(owner.isAwaited).toBe(true);
    owner.follow(CPU_LINE(78));
    expect(owner.isAwaited).toBe(true);
    owner.follow(CPU_LINE(77));
    expect(owner.isAwaited).toBe(false);
  });
});
