import {
  forEachChild,
  parse,
  type Command,
  type Function as FunctionDefinition,
  type ParsedScript,
  type Pipeline,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash';

import { derivedField, type Field } from './arguments';
import { assignedBy } from './assigning-builtins';
import { Assignments } from './assignments';
import { findGitWrite, type GitWrite } from './git-command';
import { mayRunOthers, resolveInvocations, type Invocation } from './invocation';
import { formatPrintf, literalOutput, redirectedInput } from './literal-output';
import { excessOf } from './script-bounds';
import { ScriptFiles } from './script-files';
import { ShellScope } from './shell-scope';
import { hasRedirects, holdsNoScript, isSubstitution, type Substitution } from './syntax-nodes';
import { TextBudget, workLength } from './text-budget';
import { WordExpander } from './word-expansion';

/** The first write that the walk came to. */
export interface WriteFinding extends GitWrite {
  /** Offset in the outermost script. */
  readonly offset: number;
}

/** What a walk over a script found. */
export interface WalkResult {
  readonly finding: WriteFinding | null;
  /** Why a script inside the script could not be read; null when all was read. */
  readonly unread: string | null;
}

type ScriptInvocation = Extract<Invocation, { kind: 'script' }>;
type FileInvocation = Omit<Extract<Invocation, { kind: 'file-script' }>, 'kind'>;

/** Where the text that is being walked stands in the outermost script. */
interface Origin {
  readonly base: number;
  /** False when the text does not stand there verbatim: then every position in it is `base`. */
  readonly isVerbatim: boolean;
}

interface Context {
  readonly origin: Origin;
  /** Literal text on standard input; null when unknown. */
  readonly stdin: Field | null;
  /** Scripts inside scripts, and function calls inside function calls, above this one. */
  readonly depth: number;
}

// `sh -c` in `sh -c` in `sudo su -c`: people come to three.
const MAX_DEPTH = 8;

// More than the longest command line that people write by far; each may stand for several fields.
const MAX_WORDS = 4096;

// Far more than people write, each on a line of its own, in the longest script that is examined.
const MAX_INNER_SCRIPTS = 6144;

// What a call costs besides its body, so that functions which only call each other end soon.
const CALL_COST = 64;

// Those that change what later words mean.
const BUILTINS: ReadonlySet<string> = new Set(['set', 'read', 'printf', 'tee']);

const DECLARATIONS: ReadonlySet<string> = new Set(['export', 'declare', 'typeset', 'local', 'readonly']);

/** Walks one script, and the scripts inside it, in source order until a git command that writes. Use it once. */
export class ScriptWalker {
  private readonly scope = new ShellScope();
  private readonly budget: TextBudget;
  private readonly words: WordExpander;
  private readonly assignments: Assignments;
  private readonly functions = new Map<string, { readonly body: SyntaxNode; readonly origin: Origin }>();
  private readonly files = new ScriptFiles();
  private readonly aliases = new Map<string, string>();
  private innerScripts = 0;
  private finding: WriteFinding | null = null;
  private unread: string | null = null;

  constructor(private readonly source: string) {
    this.budget = new TextBudget(workLength(source));
    this.words = new WordExpander(this.scope, this.budget);
    this.assignments = new Assignments(this.scope, this.words);
  }

  /** Never throws for any text; what the parser cannot read is told in `unread`. */
  walk(): WalkResult {
    const origin: Origin = { base: 0, isVerbatim: true };
    this.visitText(this.source, { origin, stdin: null, depth: 0 });
    return { finding: this.finding, unread: this.unread };
  }

  private visitText(text: string, context: Context): void {
    if (context.depth > MAX_DEPTH) return this.giveUp(`scripts are nested more than ${MAX_DEPTH} deep`);
    if (!this.budget.spend(text.length)) return this.giveUp('it expands to more text than is examined');
    const excess = excessOf(text);
    if (excess !== null) return this.giveUp(excess);
    // Taken off one by one: what a visit makes the parser add to a statement is garbage as soon as the visit ends.
    const pending = this.statementsOf(parse(text)).reverse();
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) this.visit(next.command, context);
  }

  private statementsOf({ commands, errors: [error] = [] }: ParsedScript): Statement[] {
    if (error === undefined) return [...commands];
    this.giveUp(`the shell syntax is broken: ${error.message}`);
    return [];
  }

  private visitScript(script: ParsedScript, context: Context): void {
    for (const { command } of this.statementsOf(script)) this.visit(command, context);
  }

  /** Counts a script inside the script; false when there were too many. */
  private admitsInnerScript(): boolean {
    if (++this.innerScripts <= MAX_INNER_SCRIPTS) return true;
    this.giveUp(`it has more than ${MAX_INNER_SCRIPTS} scripts inside it`);
    return false;
  }

  private giveUp(reason: string): void {
    this.unread ??= reason;
  }

  private visit(node: SyntaxNode, context: Context): void {
    if (this.finding !== null) return;
    switch (node.type) {
      case 'Command':
        return this.visitCommand(node, context);
      case 'Pipeline':
        return this.visitPipeline(node, context);
      case 'AndOr':
        return node.commands.forEach((command, i) => {
          if (i === 0) this.visit(command, context);
          else this.visitBranch(command, context);
        });
      case 'Redirected': {
        const stdin = redirectedInput(node.redirects, this.words);
        this.visitSubstitutions(node.redirects, context);
        this.visit(node.command, withStdin(context, stdin));
        return this.files.recordRedirects(node.redirects, this.words, () => literalOutput(node.command, this.words));
      }
      case 'Function':
        return this.visitFunction(node, context);
      case 'For':
      case 'Select': {
        this.scope.assign(node.name.value, this.assignments.valuesIn(node.wordlist ?? []));
        this.visitSubstitutions(node.wordlist ?? [], context);
        return this.visitBranch(node.body, context);
      }
      case 'If':
      case 'Elif':
      case 'While':
      case 'Case':
      case 'CaseItem':
      case 'ArithmeticFor':
        return forEachChild(node, (child) => this.visitBranch(child, context));
      case 'CompoundList':
      case 'Statement':
      case 'Subshell':
      case 'BraceGroup':
      case 'Coproc':
        return forEachChild(node, (child) => this.visit(child, context));
      default:
        return this.visitSubstitutions([node], context);
    }
  }

  private visitBranch(node: SyntaxNode, context: Context): void {
    this.scope.inBranch(() => this.visit(node, context));
  }

  /** Visits the scripts of all substitutions in words and expressions, in source order. */
  private visitSubstitutions(nodes: readonly SyntaxNode[], context: Context): void {
    for (const node of nodes) if (!holdsNoScript(node)) this.visitSubstitutionsIn(node, context);
  }

  private visitSubstitutionsIn(root: SyntaxNode, context: Context): void {
    // A loop with a stack of its own: expressions nest as deep as they are long.
    const pending = [root];
    for (let node = pending.pop(); node !== undefined && this.finding === null; node = pending.pop()) {
      if (isSubstitution(node)) {
        this.visitSubstitution(node, context);
        continue;
      }
      const children: SyntaxNode[] = [];
      forEachChild(node, (child) => {
        if (!holdsNoScript(child)) children.push(child);
      });
      while (children.length > 0) pending.push(children.pop() as SyntaxNode);
    }
  }

  private visitSubstitution(substitution: Substitution, context: Context): void {
    if (!this.admitsInnerScript()) return;
    const { pos, script } = substitution;
    if (script === undefined) return;
    // The parser numbers the text of escaped backticks from its own start.
    const origin =
      script.source === undefined ? context.origin : { base: this.offsetOf(pos, context), isVerbatim: false };
    this.visitScript(script, { ...context, origin, stdin: null });
  }

  private visitPipeline(node: Pipeline, context: Context): void {
    let { stdin } = context;
    const last = node.commands.at(-1);
    for (const stage of node.commands) {
      this.visit(stage, withStdin(context, stdin));
      if (stage !== last) stdin = literalOutput(stage, this.words, stdin);
    }
  }

  private visitFunction(node: FunctionDefinition, context: Context): void {
    this.functions.set(node.name.value, { body: node.body, origin: context.origin });
    this.visitBranch(node.body, { ...context, stdin: null });
  }

  private visitCommand(node: Command, context: Context): void {
    const { name, args } = node;
    if (name === undefined) this.assignments.assignAll(node.prefix);
    else if (DECLARATIONS.has(name.value)) this.assignments.assignAll(args);
    else if (name.value === 'alias') this.assignments.defineAliases(args, this.aliases);
    else this.runCommand(node, name, context);
    this.visitSubstitutions(node.prefix, context);
    if (name !== undefined && !holdsNoScript(name)) this.visitSubstitutionsIn(name, context);
    this.visitSubstitutions(node.suffix, context);
    if (hasRedirects(node)) {
      this.files.recordRedirects(node.redirects, this.words, () => literalOutput(node, this.words, context.stdin));
    }
  }

  private runCommand(node: Command, name: Word, context: Context): void {
    // Most commands are of this kind, and most words are theirs.
    if (name.parts === undefined && this.runsOnlyItself(name.value, node.args)) return;
    if (node.args.length > MAX_WORDS) return this.giveUp(`a command has more than ${MAX_WORDS} words`);
    const stdin = hasRedirects(node) ? redirectedInput(node.redirects, this.words) : undefined;
    const inner = withStdin(context, stdin);
    for (const argv of this.words.expandCommand(node.args, name)) this.run(argv, inner);
  }

  private runsOnlyItself(name: string, args: Command['args']): boolean {
    // Without `-v NAME` it only prints.
    if (name === 'printf' && args[0]?.text !== '-v') return true;
    if (BUILTINS.has(name) || name.includes('/') || mayRunOthers(name)) return false;
    return !this.functions.has(name) && !this.aliases.has(name);
  }

  private run(argv: readonly Field[], context: Context): void {
    this.runBuiltin(argv, context.stdin);
    for (const invocation of resolveInvocations(argv, context.stdin)) {
      if (this.finding === null) this.runInvocation(invocation, context);
    }
  }

  /** The builtins that change variables or files by literal text. */
  private runBuiltin(argv: readonly Field[], stdin: Field | null): void {
    const [name, ...args] = argv;
    if (name?.text === 'set' && args[0]?.text === '--') this.scope.bindPositionals(args.slice(1));
    if (name?.text === 'tee') {
      const isAppended = args[0]?.text === '-a';
      for (const file of args) this.files.record(file, stdin, isAppended);
    }
    const print = (fields: readonly Field[]): string | null => formatPrintf(fields.map(({ text }) => text));
    for (const [variable, text] of assignedBy(argv, stdin, print)) {
      this.scope.assign(variable, text === null ? [] : [{ texts: [{ text, isKnown: true }], isArray: false }]);
    }
  }

  private runInvocation(invocation: Invocation, context: Context): void {
    switch (invocation.kind) {
      case 'git': {
        const write = findGitWrite(invocation.words);
        if (write !== null) this.finding = { ...write, offset: this.offsetOf(invocation.command.pos, context) };
        return;
      }
      case 'script':
        return this.runScript(invocation, context);
      case 'file-script':
        return this.runFile(invocation, context);
      case 'stdin-script':
        if (context.stdin === null) return;
        return this.runScript({ script: context.stdin, positionals: [], runsInSameShell: false }, context);
      case 'too-deep':
        return this.giveUp('commands that run commands are nested too deep');
      case 'other':
        return this.call(invocation.name, invocation.args, context);
    }
  }

  private runScript(invocation: Omit<ScriptInvocation, 'kind'>, context: Context): void {
    if (!this.admitsInnerScript()) return;
    const { script, positionals, runsInSameShell } = invocation;
    const inner = { ...this.nested(script, context), stdin: null };
    const run = (): void => this.visitText(script.text, inner);
    if (!runsInSameShell) return this.scope.inOwnShell(positionals, run);
    // `eval` and `source` without arguments leave the positional parameters alone.
    if (positionals.length === 0) run();
    else this.scope.withPositionals(positionals, run);
  }

  private runFile({ file, positionals, runsInSameShell }: FileInvocation, context: Context): void {
    const script = file.isKnown ? this.files.textOf(file.text) : null;
    if (script !== null) this.runScript({ script, positionals, runsInSameShell }, context);
  }

  private call(name: string, args: readonly Field[], context: Context): void {
    const alias = this.aliases.get(name);
    if (alias !== undefined) return this.callAlias(name, alias, args, context);
    const definition = this.functions.get(name);
    const script = definition === undefined && name.includes('/') ? this.files.textOf(name) : null;
    if (script !== null) return this.runScript({ script, positionals: args, runsInSameShell: false }, context);
    if (definition === undefined || context.depth >= MAX_DEPTH) return;
    const { body, origin } = definition;
    if (!this.budget.spend(body.end - body.pos + CALL_COST)) {
      return this.giveUp('it calls its functions more often than is followed');
    }
    const inner: Context = { ...context, origin, depth: context.depth + 1 };
    this.scope.withPositionals(args, () => this.visit(body, inner));
  }

  private callAlias(name: string, alias: string, args: readonly Field[], context: Context): void {
    const text = [alias, ...args.map((field) => field.text)].join(' ');
    // `alias ls='ls --color'`: a shell does not expand a name inside its own expansion.
    this.aliases.delete(name);
    this.visitText(text, this.nested(derivedField(text, args[0]?.pos ?? 0), context));
    this.aliases.set(name, alias);
  }

  private nested(script: Field, context: Context): Context {
    const isVerbatim = script.textPos !== null && context.origin.isVerbatim;
    const base = this.offsetOf(script.textPos ?? script.pos, context);
    return { ...context, origin: { base, isVerbatim }, depth: context.depth + 1 };
  }

  private offsetOf(pos: number, { origin }: Context): number {
    return origin.isVerbatim ? origin.base + pos : origin.base;
  }
}

/** The context with another standard input; undefined: the same one. */
const withStdin = (context: Context, stdin: Field | null | undefined): Context =>
  stdin === undefined || stdin === context.stdin ? context : { ...context, stdin };
