import { ArrayMaxSize, ArrayUnique, IsArray, IsString, Length, Matches, MaxLength } from 'class-validator';
import { Described, IsGuestPath, IsText, IsWhole, Nullable } from '@inquest/contracts-base';
import type { DtoClass } from '@inquest/kernel';

/** Where the guest sees the project's files. */
export const PROJECT_PATH = '/mnt/project';

/** Text that a model writes for people: a plan, a summary, a commit message. Characters. */
const PROSE_LENGTH = 16 * 1024;

export class PlanArguments {
  @Described('What will be done, one step per line, in your own words.')
  @IsText(PROSE_LENGTH, 1)
  readonly plan!: string;
}

export class RunArguments {
  @Described('A command line for /bin/sh of the machine.')
  @IsText(64 * 1024, 1)
  readonly command!: string;

  @Described(`Absolute path of the working directory; ${PROJECT_PATH} when left out.`)
  @Nullable()
  @IsGuestPath()
  readonly cwd: string | null = null;

  @Described('The command and everything it started is killed after this many milliseconds.')
  @IsWhole(100, 600_000)
  readonly timeoutMs: number = 120_000;
}

export class ReadFileArguments {
  @Described('Absolute path of the file.')
  @IsGuestPath()
  readonly path!: string;

  @Described('How many bytes to read from its start at most.')
  @IsWhole(1, 256 * 1024)
  readonly maxBytes: number = 64 * 1024;
}

export class WriteFileArguments {
  @Described('Absolute path of the file.')
  @IsGuestPath()
  readonly path!: string;

  @Described('The whole new content.')
  @IsString()
  @MaxLength(512 * 1024)
  readonly content!: string;

  @Described('Octal permissions, e.g. 755 for a program; 644 when left out.')
  @Nullable()
  @Matches(/^0?[0-7]{3}$/)
  readonly mode: string | null = null;
}

export class ListFilesArguments {
  @Described('Absolute path of the directory.')
  @IsGuestPath()
  readonly path: string = PROJECT_PATH;
}

export class CheckInternetArguments {}

export class GitCommitArguments {
  @Described('The commit message: a short first line, then an empty line and the rest, if any.')
  @IsText(PROSE_LENGTH, 1)
  readonly message!: string;

  @Described('Paths relative to the project that must go in although they look like scratch.')
  @IsArray()
  @ArrayMaxSize(1000)
  @IsString({ each: true })
  @MaxLength(4096, { each: true })
  readonly forceInclude: string[] = [];
}

export class ScreenshotArguments {}

/** Of a question to a person, and of each choice it offers. Characters. */
export const QUESTION_LENGTH = 2_000;
export const CHOICE_LENGTH = 120;
/** Choices that one question may offer. */
export const MAX_CHOICES = 8;

export class AskArguments {
  @Described('The question, with everything the person must know to decide. It can be answered with yes or no.')
  @IsText(QUESTION_LENGTH, 1)
  readonly question!: string;

  @Described('What the person may choose from instead of a plain yes. Each must make sense by itself.')
  @IsArray()
  @ArrayMaxSize(MAX_CHOICES)
  @ArrayUnique()
  @IsString({ each: true })
  @Length(1, CHOICE_LENGTH, { each: true })
  readonly choices: string[] = [];
}

export class DoneArguments {
  @Described('What was made and how it was checked, for the person who asked.')
  @IsText(PROSE_LENGTH, 1)
  readonly summary!: string;
}

/** One action on a machine that a model or a person may ask for. */
export interface VerbRow {
  /** For the model: what it does, when to use it, what it answers. */
  readonly description: string;
  readonly arguments: DtoClass;
  /** Changes the machine, so a plan must be recorded first. */
  readonly changesMachine: boolean;
}

/** Every verb there is. The model's tool schema, the REST and MCP tools and vmctl are made from this table. */
export const VERBS = {
  plan: {
    description:
      'Record what you are going to do, before the first verb that changes the machine. Call it again whenever the plan changes.',
    arguments: PlanArguments,
    changesMachine: false,
  },
  run: {
    description:
      'Run a shell command in the machine and get its exit code and output. The project is at /mnt/project. Git commands that write are refused: use git_commit.',
    arguments: RunArguments,
    changesMachine: true,
  },
  read_file: {
    description: 'Read a text file of the machine.',
    arguments: ReadFileArguments,
    changesMachine: false,
  },
  write_file: {
    description: 'Write a text file in the machine, replacing it when it exists; missing directories are made.',
    arguments: WriteFileArguments,
    changesMachine: true,
  },
  list_files: {
    description: 'List a directory of the machine.',
    arguments: ListFilesArguments,
    changesMachine: false,
  },
  screenshot: {
    description: 'Take a picture of the screen, where the image has one.',
    arguments: ScreenshotArguments,
    changesMachine: false,
  },
  check_internet: {
    description: 'Say what the machine can reach. It has no network card; ping can never work, whatever is allowed.',
    arguments: CheckInternetArguments,
    changesMachine: false,
  },
  git_commit: {
    description:
      'Commit the project as it stands in /mnt/project. The commit is made on the host, without scratch files; what was held back is reported.',
    arguments: GitCommitArguments,
    changesMachine: true,
  },
  ask: {
    description:
      'Ask a person to decide, and wait for the answer: approval (of one of the choices, if you offer any) or denial, with what they said. Only for what no tool can tell you and you must not decide yourself. That nobody answered in time is not a denial.',
    arguments: AskArguments,
    changesMachine: false,
  },
  done: {
    description: 'Say that the request is fulfilled, with a summary for the person who asked. Ends the run.',
    arguments: DoneArguments,
    changesMachine: false,
  },
} as const satisfies Record<string, VerbRow>;

export type VerbName = keyof typeof VERBS;
export const VERB_NAMES = Object.keys(VERBS) as readonly VerbName[];
export const isVerbName = (name: string): name is VerbName => Object.hasOwn(VERBS, name);
