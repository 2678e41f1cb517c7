import type { CorpusProject } from '../corpus-project';

export const SYSTEMS_PROJECTS: readonly CorpusProject[] = [
  {
    name: 'go module',
    tracked: ['go.mod', 'main.go', 'main_test.go', 'internal/store/store.go', 'internal/store/testdata/old.log'],
    keep: [
      'internal/store/store_test.go',
      'internal/store/testdata/new.log',
      'internal/store/testdata/broken.orig',
      'logs/logger.go',
      'cmd/tool/main.go',
      'go.sum',
      'internal/core/core.go',
    ],
    hold: {
      dropping: ['nohup.out', 'core', 'cpu.out.tmp', 'internal/store/store.go.rej'],
      throwaway: ['test.sh', 'check_build.sh'],
      directory: ['.idea/go.xml', 'tmp/main.go'],
    },
  },
  {
    name: 'rust crate',
    tracked: ['Cargo.toml', 'src/lib.rs', 'tests/parse.rs'],
    keep: ['Cargo.lock', 'src/temp.rs', 'tests/print.rs', 'benches/parse.rs', 'examples/tmp.rs'],
    hold: {
      directory: ['target/CACHEDIR.TAG', 'target/debug/libx.rlib', 'target/debug/deps/x.d'],
      throwaway: ['repro.sh'],
      dropping: ['src/lib.rs.bk~', 'vgcore.4711', 'rustc-ice.log'],
    },
  },
  {
    name: 'c program',
    tracked: ['Makefile', 'src/main.c', 'include/main.h'],
    keep: ['src/list.c', 'include/list.h', 'tests/test_list.c', 'tests/run.sh', 'doc/list.1'],
    hold: {
      dropping: ['src/list.o', 'strace.out', 'dump', 'src/#list.c#', 'src/.#list.c', 'valgrind.log'],
      throwaway: ['a.out', 'debug.sh', 'typescript'],
    },
    contents: { dump: `\x7fELF\x02\x01\x01${'\0'.repeat(9)}\x04\0\x3e\0` },
  },
  {
    name: 'java service',
    tracked: ['pom.xml', 'src/main/java/App.java', 'src/test/java/AppTest.java'],
    keep: [
      'src/main/java/Check.java',
      'src/test/java/CheckTest.java',
      'src/main/resources/logback.xml',
      'src/test/resources/fixtures/.env',
    ],
    hold: {
      dropping: ['hs_err_pid991.log', 'src/main/java/App.class'],
      directory: ['.settings/org.eclipse.prefs', '.gradle/8.0/checksums.lock'],
      secret: ['release.keystore'],
      throwaway: ['test_api.sh'],
    },
  },
  {
    name: 'firmware with its own conventions',
    tracked: ['CMakeLists.txt', 'fw/main.c', 'check_size.sh', '.inquest/scratch.yaml'],
    keep: ['check_flash.sh', 'fw/uart.c', 'logs/reference.log', 'notes.md', 'test_vectors.py'],
    hold: {
      project: ['fw/uart.map', 'dumps/1.bin'],
      throwaway: ['debug_uart.py', 'verify-boot.sh'],
      agent: ['notes.txt'],
    },
    rules: {
      keep: ['logs/reference.log', { pattern: 'notes.md', why: 'The lab notebook is part of the project.' }],
      hold: ['*.map', { pattern: 'dumps/', why: 'Memory dumps are big.' }],
    },
    forceInclude: ['test_vectors.py'],
  },
];
