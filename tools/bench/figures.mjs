// The figures of the benchmark: what each means, what it should be, and whether it is.

/**
 * @typedef {object} Goal
 * @property {string} name
 * @property {string} unit
 * @property {number} goal
 * @property {'most' | 'least'} bound whether the goal is the most or the least that is good
 * @property {string} meaning
 */

/** Goals under software emulation on two processors. @type {readonly Goal[]} */
export const GOALS = [
  goal('clone_p50_ms', 'ms', 200, 'most', 'request at the edge until the guest agent of a clone has answered, median'),
  goal('clone_p90_ms', 'ms', 350, 'most', 'the same, 90 of 100'),
  goal('clone_vs_bare_ratio', 'x', 1.25, 'most', 'the median against QEMU alone doing the same, in turn'),
  goal('clone_vs_cold_ratio', 'x', 10, 'least', 'how many times faster than a machine that boots, both at the edge'),
  goal(
    'claim_p50_ms',
    'ms',
    10,
    'most',
    'request at the edge until a machine of the warm pool is the caller’s, median',
  ),
  goal('control_plane_p50_ms', 'ms', 5, 'most', 'what edge, NATS and service add to a verb, median of `true`'),
  goal('exec_overhead_p50_ms', 'ms', 1, 'most', 'what the host code adds to `true` over the raw link, median'),
  goal('put_vs_raw_ratio', 'x', 0.6, 'least', 'speed of a file into the guest through the edge against a raw copy'),
  goal('get_vs_raw_ratio', 'x', 0.6, 'least', 'speed of a file out of the guest through the edge against a raw copy'),
  goal('put_1gib_growth_mib', 'MiB', 64, 'most', 'what gateway and vm-service grow by while 1 GiB is put, at the peak'),
  goal('get_1gib_growth_mib', 'MiB', 64, 'most', 'the same for a get'),
  goal('pss_per_clone_20_mib', 'MiB', 40, 'most', 'memory of 20 idle clones of 256 MiB and of vm-service, per clone'),
  goal('cold_vs_bare_ratio', 'x', 1.15, 'most', 'a boot at the edge until ready against QEMU alone, in turn'),
  goal('launch_check_ms', 'ms', 5, 'most', 'check of a frozen version before a start, median'),
  goal('verdict_latency_ms', 'ms', 300, 'most', 'from the end of the process until its verdict can be read, median'),
  goal('idle_platform_pss_mib', 'MiB', 700, 'most', 'memory of all services, NATS and Postgres, idle'),
];

function goal(name, unit, value, bound, meaning) {
  return { name, unit, goal: value, bound, meaning };
}

/** Collects measurements; what was not measured says why. */
export class Figures {
  /** @type {Map<string, {value: number, why: string}>} */
  #measured = new Map();
  /** @type {Map<string, string>} */
  #missing = new Map();

  /** @param {string} name @param {number} value @param {string} why the measurement in a few words */
  set(name, value, why) {
    if (!Number.isFinite(value)) throw new TypeError(`${name} is ${value}`);
    this.#measured.set(name, { value, why });
  }

  /** @param {readonly string[]} names @param {string} why */
  miss(names, why) {
    for (const name of names) if (!this.#measured.has(name)) this.#missing.set(name, why);
  }

  /** One entry for each goal, in their order. */
  report() {
    return GOALS.map(({ name, unit, goal: wanted, bound }) => {
      const measured = this.#measured.get(name);
      if (measured === undefined) {
        return {
          name,
          value: null,
          unit,
          goal: wanted,
          status: 'not_run',
          why: this.#missing.get(name) ?? 'not reached',
        };
      }
      const value = rounded(measured.value);
      const isGood = bound === 'most' ? value <= wanted : value >= wanted;
      return { name, value, unit, goal: wanted, status: isGood ? 'ok' : 'short', why: measured.why };
    });
  }
}

const rounded = (value) => Number(value.toPrecision(value >= 100 ? 4 : 3));

/** As a Markdown table, which is also how a person reads it on a terminal. @param {ReturnType<Figures['report']>} figures */
export function table(figures) {
  const rows = figures.map(({ name, value, unit, goal: wanted, status, why }) => {
    const { bound } = GOALS.find((known) => known.name === name);
    return [
      name,
      value === null ? '-' : `${value} ${unit}`,
      `${bound === 'most' ? '<=' : '>='} ${wanted} ${unit}`,
      status,
      why,
    ];
  });
  const all = [['figure', 'value', 'goal', 'status', 'how'], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(all[0]), rule, ...all.slice(1).map(line)].join('\n');
}
