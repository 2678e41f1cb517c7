// Finds every error table that a library exports, and renders them as docs/errors.md.
import { listProjects } from '../workspace/projects.mjs';

/**
 * @typedef {{ fault: string, status: number, when: string, remediation: string }} ErrorRow
 * @typedef {{ project: string, code: string, row: ErrorRow }} ErrorEntry
 */

/**
 * All rows of all libraries, by project and then by code.
 * @param {(root: string) => Record<string, unknown>} load gives the exports of the library in a folder
 * @returns {ErrorEntry[]}
 */
export function collectErrors(load) {
  const libraries = listProjects().filter(({ root }) => root.startsWith('libs/'));
  return libraries.flatMap(({ root }) =>
    Object.values(load(root))
      // Factories re-exported from another library are listed there.
      .filter((exported) => typeof exported === 'function' && typeof exported.table === 'object')
      .flatMap(({ table }) => Object.entries(table))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, row]) => ({ project: root, code, row })),
  );
}

/** @param {ErrorEntry[]} entries */
export function renderErrors(entries) {
  const projects = [...new Set(entries.map(({ project }) => project))];
  const sections = projects.map((project) => {
    const rows = entries.filter((entry) => entry.project === project);
    return [`## ${project}`, '', ...rows.flatMap(renderRow)].join('\n');
  });
  return `${HEADER}\n${sections.join('\n')}`;
}

const renderRow = ({ code, row }) => [
  `### ${code}`,
  '',
  `${row.when}`,
  '',
  `- Fault: ${row.fault} · HTTP status: ${row.status}`,
  `- What to do: ${row.remediation}`,
  '',
];

const HEADER = `# Errors

Every error that Inquest reports on purpose, by its code. \`fault\` says who has to change something before a retry can
help: the \`caller\`, the \`guest\`, or the \`infra\`structure. Over HTTP an error is a problem body (RFC 9457) with this
status; the message of each occurrence names the object.

Generated from the error tables of the libraries by \`node tools/docs/generate-errors.mjs\`; a test keeps it equal to them.
`;
