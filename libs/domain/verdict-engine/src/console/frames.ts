const anyOf = (names: readonly string[]): RegExp => new RegExp(`^(?:${names.join('|')})$`);

/** The machinery that notices and prints a report: it stands in every report of its kind, whatever the fault. */
const REPORTING = [
  // reporting
  '_{0,2}dump_stack(?:_lvl)?|show_stack|panic|vpanic|check_panic_on_warn|_{0,2}warn(?:_printk|_slowpath\\w*)?|warn_slowpath\\w*|report_bug|fixup_bug|_?v?printk\\w*',
  'handle_bug|bug_handler|brk_handler|do_debug_exception|do_error_trap|do_invalid_op|invalid_op|exc_\\w+|asm_\\w+|sysvec_\\w+|__sysvec_\\w+|el1\\w*|el0\\w*|die\\w*|__die\\w*|oops_\\w+',
  'page_fault_oops|no_context|bad_area\\w*|_{0,2}bad_area\\w*|spurious_kernel_fault|do_kern_addr_fault|do_user_addr_fault|_{0,2}do_page_fault|page_fault|do_general_protection|general_protection|do_mem_abort|do_translation_fault|__do_kernel_fault|kernelmode_fixup_or_oops',
  // sanitizers
  '\\w*kasan\\w*|check_memory_region\\w*|\\w*asan_\\w+|print_address_description\\w*|print_report|describe_object|end_report|\\w*ubsan\\w*|\\w*kcsan\\w*|\\w*tsan_\\w+|\\w*kmsan\\w*|\\w*msan_\\w+|\\w*kfence\\w*|\\w*sanitizer_cov\\w*|instrument_\\w+|check_region_inline|val_to_string|handle_overflow',
  // stacks that are looked at or saved
  '_{0,2}show_regs\\w*|show_trace\\w*|show_state_filter|_?sched_show_task|_{0,2}unwind_\\w+|arch_stack_walk\\w*|dump_trace|print_context_stack\\w*|_{0,2}kernel_text_address|is_ftrace_trampoline|is_bpf_text_address|_{0,2}save_stack\\w*|save_trace|stack_trace\\w*|check_preemption_disabled|_{0,2}this_cpu_preempt_check|lockdep\\w*',
];

/** Lock and memory primitives, entry code, the scheduler: functions that somebody else called wrongly. */
const PRIMITIVES = [
  // string, user copy, atomics
  '_{0,2}mem(?:cpy|set|move|cmp|chr|scan)\\w*|str(?:n?len|n?cpy|n?cmp|n?cat|lcpy|scpy|r?chr|str|ncasecmp)|_{0,2}(?:raw_)?copy_(?:to|from)_(?:user|iter)\\w*|_{0,2}copy_(?:page|folio)_(?:to|from)_iter\\w*|_{0,2}(?:arch_)?atomic\\w*|_?test_and_\\w+bit|_{0,2}read_once\\w*',
  // locks
  '_{0,2}(?:_?raw_)?(?:spin|read|write)_(?:try)?(?:un)?lock\\w*|do_raw_\\w+|\\w*queued_spin_lock\\w*|native_queued_\\w+|_{0,3}lock_(?:acquire|release)\\w*|register_lock_class|mark_lock\\w*|mark_usage|validate_chain|check_(?:prev|deadlock|noncircular|irq_usage|path|usage)\\w*|print_(?:circular|deadlock|usage|bad|irq|shortest|lock)\\w*|_{0,2}(?:ww_)?mutex_(?:try)?lock\\w*|mutex_(?:un|spin)\\w*|_{0,2}(?:down|up)_(?:read|write)\\w*|rwsem_\\w+|percpu_(?:down|up)_\\w+|lock_sock_\\w+|_{0,2}lock_sock|debug_\\w+|_?raw_spin_\\w+|spin_(?:bug|dump)|local_bh_enable|_{0,2}local_bh_enable_ip|trace_hardirqs_\\w+',
  // memory
  'k?v?z?[mf](?:alloc|ree)|_{0,4}k[mz]?alloc\\w*|_{0,2}kv[mzc]alloc\\w*|_{0,2}v[mz]alloc\\w*|krealloc\\w*|kcalloc\\w*|kmemdup\\w*|kstrn?dup\\w*|strndup_user|memdup_user\\w*|kfree\\w*|kvfree\\w*|_{0,2}kmem_cache_\\w+|_{0,3}slab_\\w+|_{0,2}cache_free\\w*|_{0,2}alloc_(?:frozen_)?pages\\w*|_{0,2}folio_alloc\\w*|_{0,2}page_pool_alloc\\w*|post_alloc_hook|new_slab|allocate_slab|alloc_slab_page|_{0,2}alloc_skb\\w*|warn_alloc|get_page_from_freelist|_{0,2}get_free_pages|dump_header|oom_kill_process|out_of_memory|set_track|object_err|free_debug_processing|alloc_debug_processing|check_bytes\\w*|check_object|check_slab|bad_page|free_unref_\\w+|free_pcp\\w+|_{0,2}free_pages\\w*|(?:un)?lock_page\\w*|_{0,2}folio_(?:un)?lock\\w*|free_pages?_(?:check|prepare|ok)\\w*',
  // containers and counters
  '_{0,2}list_(?:add|del)\\w*|_{0,2}hlist_\\w+|list_(?:add|del|move)\\w*|refcount_\\w+|_{0,2}refcount_\\w+|kref_\\w+|kobject_(?:get|put)|_{0,2}rb_\\w+|klist_\\w+|plist_\\w+|llist_\\w+|timerqueue_\\w+|_{0,2}p?skb_(?:(?:over_|under_)?panic|put(?:_data|_zero)?|push|pull(?:_tail)?|trim)',
  // context checks
  '_{0,3}might_(?:sleep|resched|fault)\\w*|_{0,2}cant_sleep|_{0,2}schedule_bug|rcu_lockdep\\w*|_{0,2}rcu_read_(?:un)?lock',
  // the scheduler, waiting, timers, watchdogs
  '_{0,3}schedule|schedule\\w*|io_schedule\\w*|preempt_\\w+|context_switch|wait_for_\\w+|_{0,2}wait_for_common|do_wait_for_common|_{0,2}wait_on_bit\\w*|out_of_line_wait_on_bit\\w*|bit_wait\\w*|folio_wait_\\w+|wait_on_(?:page|buffer)\\w*|_{0,2}wait_event\\w*|do_nanosleep|rt_mutex_\\w+|_{0,2}rt_mutex_\\w+|finish_task_switch\\w*',
  'watchdog\\w*|\\w*nmi\\w*|arch_trigger_\\w+|\\w*hrtimer\\w*|tick_\\w+|update_process_times|\\w*apic_timer_interrupt\\w*|rcu_(?:sched_clock_irq|dump_cpu_stacks|check_callbacks|pending|check_gp_\\w+)|(?:check|print)_cpu_stall\\w*|print_other_cpu_stall|dump_cpu_task|\\w*default_idle\\w*|\\w*cpu_idle\\w*|arch_cpu_idle|native_safe_halt|csd_lock_wait\\w*|smp_call_function\\w*|on_each_cpu\\w*|generic_exec_single|check_hung_\\w+',
  // printing, and objects whose users are meant
  'read_word_at_a_time|\\w*indirect_thunk\\w*|string|pointer|v?sc?n?printf|k?v?asprintf|va_format|_?dev_(?:info|notice|warn|err|alert|crit|emerg|printk)|fortify_panic|__stack_chk_fail|usercopy_\\w+|__check_(?:heap_object|object_size)|debug_object\\w*|debug_print_object|\\w+_is_static_object',
  'complete|__wake_up\\w*|finish_wait|osq_\\w+|down|up|del_timer\\w*|(?:__)?flush_work(?:queue)?|insert_work|_{0,2}queue_(?:delayed_)?work\\w*|mod_delayed_work\\w*|__cancel_work\\w*|cancel_(?:delayed_)?work\\w*|try_to_grab_pending|drain_workqueue|destroy_workqueue|kthread_stop|kfree_skb\\w*|consume_skb|kobject_\\w+|sysfs_remove\\w*|device_(?:add|del|unregister|destroy|release)|devres_release_all|put_user|get_user|perf_trace_(?!init|destroy|add|del|event_)\\w*|unwind_backtrace|dump_backtrace\\w*|program_check_\\w+|reacquire_held_locks|__might_\\w+',
  // entry code
  'entry_\\w+|do_syscall_\\w+|x64_sys_call|ret_(?:from|to)_\\w+|retint_\\w+|invoke_syscall|el0_svc\\w*|secondary_startup\\w*|cpu_startup_entry|common_interrupt|irq_exit\\w*|_{0,2}do_softirq\\w*|_{0,2}irq_exit_rcu|kthread|process_one_work|worker_thread|do_softirq\\w*|call_on_stack|run_ksoftirqd|smpboot_thread_fn',
];

const REPORTING_FUNCTION = anyOf(REPORTING);
const GENERIC_FUNCTION = anyOf([...REPORTING, ...PRIMITIVES]);

/** `name+0x12/0x34`: a function of a stack, as kallsyms prints it. */
const SYMBOL = /([A-Za-z_][\w.$]{0,120})\+0x[0-9a-f]{1,8}\/0x[0-9a-f]{1,8}/;
/** The other stack that the frames from here on are on: `<IRQ>`, `<EOI>`, `<#DF>`. */
const STACK = '(?:<[#/A-Z]{2,6}> {1,3})?';
/** Return addresses before the function of a frame: `[<ffffffff81>]`, POWER's two `[c000000001] [c0000002]`. */
const ADDRESSES = '(?:\\(?\\[<? {0,8}[0-9a-f]{1,16}>?\\]\\)? {1,3}){0,2}';
/** A line of a call trace; a leading `?` marks a stale address the unwinder does not vouch for. */
const FRAME = new RegExp(
  `^${STACK}${ADDRESSES}(\\? {1,2})?([A-Za-z_][\\w.$]{0,120})\\+0x[0-9a-f]{1,8}/0x[0-9a-f]{1,8}`,
);
/** 32-bit ARM names callee and caller: `(foo) from [<c010bc24>] (bar+0x10/0x14)`, later `foo from bar+0x10/0x14`. */
const ARM_FRAME = new RegExp(`^${ADDRESSES}\\(?([A-Za-z_][\\w.$]{0,120})\\)? from `);
/** POWER marks stale addresses behind the function. */
const UNRELIABLE = '(unreliable)';
/** A line that decode_stacktrace.sh has resolved: `name file.c:12 [inline]`. */
const RESOLVED_FRAME = /^(?:\[< {0,8}inline {0,8}>\] )?([A-Za-z_]\w{0,120}) [\w./-]{1,200}\.[chS]:\d{1,6}(?: |$)/;
/** Registers that hold the failing instruction: x86, i386, arm64, arm, RISC-V, MIPS, LoongArch, POWER, s390. */
const PROGRAM_COUNTER =
  /^(?:RIP: 0010:|RIP: |RIP {1,2}\[|IP: |EIP: |EIP is at |pc : |PC is at |epc {0,3}: |era {0,3}: |NIP |Krnl PSW : )/;
/** What introduces a call trace. */
const TRACE_HEADER = /^(?:Call [Tt]race:|Backtrace:|[Ss]tack backtrace:|backtrace(?: \(.{1,40}\))?:)/;

/** True when the function says nothing about where the fault is: a title takes the first function that does. */
export function isGenericFunction(name: string): boolean {
  return GENERIC_FUNCTION.test(name);
}

/** True when the function only belongs to the report itself. */
export function isReportingFunction(name: string): boolean {
  return REPORTING_FUNCTION.test(name);
}

/** `foo.constprop.0` and `foo.cold` are parts of `foo`. */
export function baseFunction(name: string): string {
  const dot = name.indexOf('.');
  return dot > 0 ? name.slice(0, dot) : name;
}

/** The function in `text`, wherever a `name+0x1/0x2` stands in it; null without one. */
export function symbolIn(text: string): string | null {
  const match = SYMBOL.exec(text);
  return match === null ? null : baseFunction(match[1] as string);
}

/** The function that a line of a call trace names; null when the line is no trustworthy frame. */
export function frameFunction(text: string): string | null {
  const frame = FRAME.exec(text);
  if (frame !== null) {
    const isStale = frame[1] !== undefined || text.endsWith(UNRELIABLE);
    return isStale ? null : baseFunction(frame[2] as string);
  }
  const other = ARM_FRAME.exec(text) ?? RESOLVED_FRAME.exec(text);
  return other === null ? null : baseFunction(other[1] as string);
}

/** The kernel function at the program counter; null when the line shows none, or an address of user space. */
export function programCounterFunction(text: string): string | null {
  return PROGRAM_COUNTER.test(text) ? symbolIn(text) : null;
}

/** True for the line before the first frame of a call trace. */
export function isTraceHeader(text: string): boolean {
  return TRACE_HEADER.test(text);
}
