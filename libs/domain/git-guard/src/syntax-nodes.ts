import type {
  ArithmeticCommandExpansion,
  Command,
  CommandExpansionPart,
  ProcessSubstitutionPart,
  SyntaxNode,
} from 'unbash';

/** A part of a word that is a script. */
export type Substitution = CommandExpansionPart | ProcessSubstitutionPart | ArithmeticCommandExpansion;

// Each substitution begins with a backtick, `<(`, `>(`, or a `$` that no name follows; a continued line may come between.
const SUBSTITUTION_SIGN = /`|[<>][(\\]|\$[^\w]/;

/** True for what cannot hold a substitution: literal words, and the parts of words that are text or a variable. */
export function holdsNoScript(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'Word':
      // Told by its text where that is possible: asking for the parts makes the parser read the word again.
      return !SUBSTITUTION_SIGN.test(node.text) || (node.parts ?? []).every(holdsNoScript);
    case 'Assignment':
      return node.index === undefined && holdsNoScript(node.value);
    case 'Redirect':
      return node.target === undefined || holdsNoScript(node.target);
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
    case 'SimpleExpansion':
      return true;
    case 'DoubleQuoted':
      return node.parts.every(holdsNoScript);
    default:
      return false;
  }
}

/** True for a node that carries a script. */
export const isSubstitution = (node: SyntaxNode): node is Substitution =>
  node.type === 'CommandExpansion' || node.type === 'ProcessSubstitution' || node.type === 'ArithmeticCommandExpansion';

/** False when the redirections of a command need not be looked at: the parser makes a list of them first. */
export const hasRedirects = ({ prefix, suffix, args }: Command): boolean =>
  prefix.length > 0 || args.length < suffix.length;
