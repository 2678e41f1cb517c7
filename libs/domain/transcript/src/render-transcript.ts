import { assertNever } from '@inquest/kernel';
import type { TranscriptProblem } from './decode-transcript';
import type { Cut, Entry, TranscriptEntry, VerbOutcome } from './entry';
import { paletteFor, type Paint, type Palette } from './palette';
import { describeArguments, describeCensus, duration, elapsed, utc } from './phrases';
import { displayWidth, printable, printableLine } from './printable';
import { RowLayout, type RenderOptions, type Row } from './row';

const GLYPHS: Readonly<Record<VerbOutcome, string>> = { ok: '✓', refused: '⊘', failed: '✗', error: '!' };
const COMMIT_LENGTH = 10; // enough to be unique in a large repository, as `git log --abbrev-commit` shows it

/**
 * Shows entries to people, one after the other, as they come. Times are relative to the start of the run that an entry
 * belongs to. Nothing that a guest or a model wrote reaches the terminal as anything but printable text.
 */
export class EntryRenderer {
  private readonly palette: Palette;
  private readonly layout: RowLayout;
  private startMs: number | null = null;

  constructor(private readonly options: RenderOptions) {
    this.palette = paletteFor(options.color);
    this.layout = new RowLayout(options, this.palette);
  }

  /** The lines of one entry, without newlines. */
  render(entry: TranscriptEntry): string[] {
    if (entry.type === 'run_started' || this.startMs === null) this.startMs = entry.atMs;
    return [...this.lines(entry), ...this.cutNote(entry.cut)];
  }

  /** The lines of what is wrong with the record itself. */
  renderProblems(problems: readonly TranscriptProblem[]): string[] {
    return problems.map(({ message }) => this.palette.yellow(`! transcript: ${printableLine(message)}`));
  }

  private lines(entry: TranscriptEntry): string[] {
    switch (entry.type) {
      case 'session_opened':
        return this.sessionOpened(entry);
      case 'run_started':
        return this.runStarted(entry);
      case 'plan_recorded':
        return this.planRecorded(entry);
      case 'model_turn':
        return entry.text.trim() === '' ? [] : this.layout.paragraph(this.row(entry, '“', 'says', entry.text, 'cyan'));
      case 'verb':
        return this.verb(entry);
      case 'confirmation':
        return this.confirmation(entry);
      case 'host_event':
        return this.layout.paragraph(this.row(entry, '*', 'host', `${entry.event}: ${entry.detail}`, 'yellow'));
      case 'verdict':
        return this.verdict(entry);
      case 'publication':
        return this.publication(entry);
      case 'run_ended':
        return this.runEnded(entry);
      case 'session_closed':
        return ['', `${this.palette.bold('session closed')}  ${printableLine(entry.reason)}`];
      case 'census':
        return this.census(entry);
      default:
        return assertNever(entry);
    }
  }

  private sessionOpened({ sessionId, project, image, machineId, atMs }: Entry<'session_opened'>): string[] {
    const facts = [`project ${project}`, `image ${image}`, `machine ${machineId}`].map(printableLine);
    return [
      `${this.palette.bold(`session ${printableLine(sessionId)}`)}   ${facts.join('   ')}`,
      this.palette.dim(`opened ${utc(atMs)}`),
    ];
  }

  private runStarted({ runId, model, prompt, atMs }: Entry<'run_started'>): string[] {
    const by = model === null ? 'command line in the guest' : `model ${printableLine(model)}`;
    const facts = this.palette.dim(`${by}   started ${utc(atMs)}`);
    return ['', `${this.palette.bold(`run ${printableLine(runId ?? '')}`)}   ${facts}`, ...this.layout.quoted(prompt)];
  }

  private planRecorded(entry: Entry<'plan_recorded'>): string[] {
    const steps = entry.steps.map((step, index) => `${index + 1}. ${printableLine(step)}`);
    return this.layout.paragraph(this.row(entry, '#', 'plan', steps.join('\n'), 'cyan'));
  }

  private verb(entry: Entry<'verb'>): string[] {
    const told = printable(entry.summary).trim();
    const row = { ...this.row(entry, GLYPHS[entry.outcome], entry.verb, '', outcomePaint(entry.outcome)) };
    const head = {
      ...row,
      time: this.time(entry.startedAtMs),
      note: entry.outcome === 'refused' ? '' : duration(entry.durationMs),
    };
    const args = describeArguments(entry.arguments);
    const inline = args === '' ? told : `${args} → ${told}`;
    const whole = this.options.verbose ? this.layout.quoted(JSON.stringify(entry.arguments, null, 2)) : [];
    const fits = !told.includes('\n') && displayWidth(inline) <= this.layout.textWidth - head.note.length - 2;
    if (told === '' || (fits && entry.outcome === 'ok')) {
      return [...this.layout.line({ ...head, text: told === '' ? args : inline }), ...whole];
    }
    const answer =
      entry.outcome === 'refused'
        ? this.layout.paragraph(this.continued(`refused: ${told}`))
        : this.layout.quoted(told);
    return [...this.layout.line({ ...head, text: args }), ...whole, ...answer];
  }

  private confirmation(entry: Entry<'confirmation'>): string[] {
    const { question, state, by, reason } = entry;
    const answer = state === 'asked' ? 'waits for a person' : by === null ? state : `${state} by ${by}`;
    const text = `${question} → ${answer}${reason === '' ? '' : `: ${reason}`}`;
    return this.layout.paragraph(this.row(entry, '?', 'confirmation', text, 'yellow'));
  }

  private verdict(entry: Entry<'verdict'>): string[] {
    const text = `${entry.class} (${entry.confidence}): ${entry.account}`;
    const evidence = entry.deciding.map(({ file, offset, quote }) => `${file} at ${offset}: "${quote}"`);
    return [...this.layout.paragraph(this.row(entry, '=', 'verdict', text, 'bold')), ...this.layout.below(evidence)];
  }

  private publication(entry: Entry<'publication'>): string[] {
    const commit = entry.commit === null ? 'no commit' : `commit ${entry.commit.slice(0, COMMIT_LENGTH)}`;
    const branch = entry.branch === null ? '' : ` on ${entry.branch}`;
    const state = `${commit}${branch}, ${entry.pushed ? 'published' : 'not published'}: ${entry.detail}`;
    const kept =
      entry.kept.length === 0
        ? []
        : this.layout.paragraph(this.continued(`kept: ${entry.kept.map(printableLine).join(', ')}`));
    const held = entry.held.map(({ path, rule, why }) => `held back: ${path}  (${rule}: ${why})`);
    const head = this.row(entry, entry.pushed ? '✓' : '-', 'publication', state, entry.pushed ? 'green' : 'yellow');
    return [...this.layout.paragraph(head), ...kept, ...this.layout.below(held)];
  }

  private runEnded(entry: Entry<'run_ended'>): string[] {
    const done = entry.outcome === 'done';
    const text = entry.summary.trim() === '' ? entry.outcome : `${entry.outcome}: ${entry.summary}`;
    return this.layout.paragraph(this.row(entry, done ? '✓' : '✗', 'run ended', text, done ? 'green' : 'red'));
  }

  private census(entry: Entry<'census'>): string[] {
    const differences = entry.differences.map(
      ({ counter, transcript, guest }) => `differs: ${counter} is ${transcript} here, ${guest} by the guest agent`,
    );
    return [
      ...this.layout.paragraph(this.row(entry, 'Σ', 'census', describeCensus(entry), 'dim')),
      ...this.layout.below(differences),
    ];
  }

  private row(entry: TranscriptEntry, glyph: string, label: string, text: string, paint: keyof Palette): Row {
    return { time: this.time(entry.atMs), glyph, label, text, note: '', paint: this.palette[paint] };
  }

  private continued(text: string): Row {
    return { time: '', glyph: '', label: '', text, note: '', paint: plain };
  }

  private time(atMs: number): string {
    return elapsed(atMs - (this.startMs ?? atMs));
  }

  private cutNote(cut: Cut | undefined): string[] {
    if (cut === undefined) return [];
    return [this.layout.aside(`(recorded without ${cut.characters} characters and ${cut.items} items)`)];
  }
}

const plain: Paint = (text) => text;

function outcomePaint(outcome: VerbOutcome): keyof Palette {
  if (outcome === 'ok') return 'green';
  return outcome === 'refused' ? 'yellow' : 'red';
}

/** A whole transcript as text for people, each line ended by a newline; what is wrong with the record comes last. */
export function renderTranscript(
  entries: Iterable<TranscriptEntry>,
  options: RenderOptions,
  problems: readonly TranscriptProblem[] = [],
): string {
  const renderer = new EntryRenderer(options);
  const lines = [...entries].flatMap((entry) => renderer.render(entry));
  return [...lines, ...renderer.renderProblems(problems)].map((line) => `${line}\n`).join('');
}
