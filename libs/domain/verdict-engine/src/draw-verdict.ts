import { assertNever } from '@inquest/kernel';
import { printable, type Citation } from './citation';
import type { Evidence, EvidenceDriver } from './evidence';
import { caseFacts, outlived, type CaseFacts } from './facts/case-facts';
import { FIRECRACKER_RULES } from './rules/firecracker-rules';
import { QEMU_RULES } from './rules/qemu-rules';
import type { Finding, Rule } from './rules/rule';
import { UNKNOWN_ENDING, unknownEnding } from './rules/unknown.rules';
import { ENGINE_VERSION, MAX_CITATIONS, type Confidence, type Verdict } from './verdict';

/**
 * How one incarnation of a machine ended, by its evidence alone. Pure and deterministic: the same evidence gives the same
 * verdict, bit for bit once encoded. Near-linear in the size of the evidence; never throws, whatever a guest put into it.
 */
export function drawVerdict(evidence: Evidence): Verdict {
  const facts = caseFacts(evidence);
  const { rule, finding } = firstFinding(rulesFor(evidence.meta.driver), facts);
  return {
    engineVersion: ENGINE_VERSION,
    class: finding.class,
    confidence: isIncomplete(facts, finding) ? lowered(finding.confidence) : finding.confidence,
    account: printable(finding.account, MAX_ACCOUNT_CHARS),
    rule,
    deciding: distinct(finding.deciding, []),
    contributing: distinct(finding.contributing ?? [], finding.deciding),
    boots: Math.max(facts.serial.boots, facts.lastPong === null ? 0 : 1),
    warnings: warnings(facts),
    blame: finding.blame,
    ended: finding.ended,
  };
}

/** Longest account, in characters. */
const MAX_ACCOUNT_CHARS = 400;

function rulesFor(driver: EvidenceDriver): readonly Rule[] {
  switch (driver) {
    case 'qemu':
    case 'fake':
      return QEMU_RULES;
    case 'firecracker':
      return FIRECRACKER_RULES;
    default:
      return assertNever(driver);
  }
}

function firstFinding(rules: readonly Rule[], facts: CaseFacts): { readonly rule: string; readonly finding: Finding } {
  for (const rule of rules) {
    const finding = rule.find(facts);
    if (finding !== null) return { rule: rule.name, finding };
  }
  return { rule: UNKNOWN_ENDING, finding: unknownEnding(facts) };
}

/** The first citations of different places, none of them among `others`. */
function distinct(citations: readonly Citation[], others: readonly Citation[]): readonly Citation[] {
  const kept: Citation[] = [];
  for (const citation of citations) {
    const known = [...kept, ...others].some(({ file, offset }) => file === citation.file && offset === citation.offset);
    if (!known && kept.length < MAX_CITATIONS) kept.push(citation);
  }
  return kept;
}

const lowered = (confidence: Confidence): Confidence => (confidence === 'certain' ? 'likely' : 'weak');

/** Evidence that the finding needed may be missing. */
function isIncomplete({ evidence, qmp, actions, probes, serial }: CaseFacts, finding: Finding): boolean {
  const { recorder } = evidence.meta;
  if (recorder.lost || !recorder.attachedBeforeBoot) return true;
  if (qmp.skipped + qmp.stale + actions.skipped + probes.skipped > 0) return true;
  return finding.readsConsole && serial.droppedBytes > 0;
}

function warnings(facts: CaseFacts): readonly string[] {
  const { evidence, qmp, actions, probes, serial } = facts;
  const { recorder } = evidence.meta;
  const said: string[] = [];
  const when = (condition: boolean, text: string) => {
    if (condition) said.push(printable(text));
  };
  when(recorder.lost, `the recording was interrupted: ${recorder.note ?? 'no reason noted'}`);
  when(
    !recorder.attachedBeforeBoot,
    'the recorder was attached after the guest had begun to run: earlier events are missing',
  );
  when(qmp.skipped > 0, `events.jsonl: ${qmp.skipped} malformed or truncated line(s) skipped`);
  when(qmp.stale > 0, `events.jsonl: ${qmp.stale} event(s) older than this incarnation ignored`);
  when(actions.skipped > 0, `actions.jsonl: ${actions.skipped} malformed or truncated line(s) skipped`);
  when(probes.skipped > 0, `probes.jsonl: ${probes.skipped} malformed or truncated line(s) skipped`);
  when(
    serial.droppedBytes > 0,
    `the console log was cut: ${serial.droppedBytes} bytes between head and tail are missing`,
  );
  when(!serial.spoke && evidence.meta.origin !== 'clone', 'the console is empty');
  when(facts.exit === null && probes.records.length === 0, 'nobody probed the machine: there are no probes');
  when(
    serial.marks.some((mark) => isFalseWord(facts, mark)),
    'the console says that the kernel stopped, but the agent answered after that',
  );
  when(
    serial.reports.some((report) => report.severity === 'crash' && report.truncated),
    'a kernel report on the console stops before its end',
  );
  return said;
}

const FINAL_WORDS: readonly string[] = ['panic', 'halted', 'power_down'];

const isFalseWord = (facts: CaseFacts, mark: CaseFacts['serial']['marks'][number]): boolean =>
  FINAL_WORDS.includes(mark.kind) && mark.boot >= facts.serial.boots && outlived(facts, mark);
