const LONE_SURROGATE = /\p{Cs}/gu;
const REPLACEMENT = '\uFFFD';

/** Text that Postgres takes also within JSON: neither NUL nor half of a surrogate pair, as a cut may leave one. */
export const storableText = (text: string): string =>
  text.replaceAll('\0', REPLACEMENT).replace(LONE_SURROGATE, REPLACEMENT);
