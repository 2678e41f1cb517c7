import type { CorpusProject } from '../corpus-project';

/** The start of an ELF program for x86-64. */
const PROGRAM = `\x7fELF\x02\x01\x01${'\0'.repeat(9)}\x02\0\x3e\0`;

/** Projects in which much was tried out before the work was done. */
export const LEAVINGS_PROJECTS: readonly CorpusProject[] = [
  {
    name: 'go service after a day of profiling',
    tracked: ['go.mod', 'main.go', 'internal/store/store.go', 'internal/store/store_test.go'],
    keep: [
      'internal/queue/queue.go',
      'internal/queue/queue_test.go',
      'internal/temperature/temp_sensor.go',
      'cmd/tool/main.go',
      'Makefile',
    ],
    hold: {
      dropping: ['cover.out', 'cpu.prof', 'store.test', 'service', 'docs/.~lock.limits.odt#'],
      throwaway: ['main_scratch.go', 'tmp.go'],
      directory: ['.idea/workspace.xml', 'bench-tmp/out.json'],
      agent: ['TODO_NEXT.md'],
    },
    contents: { 'store.test': PROGRAM, service: PROGRAM },
  },
  {
    name: 'crate whose build directory has no tag',
    tracked: ['Cargo.toml', 'src/lib.rs'],
    keep: [
      'src/parser.rs',
      'src/target/mod.rs',
      'tests/parse.rs',
      'examples/demo.rs',
      'benches/speed.rs',
      'Cargo.lock',
    ],
    hold: {
      directory: ['target/debug/libx.rlib', 'target/.rustc_info.json'],
      dropping: ['perf.data', 'perf.data.old', 'default.profraw', 'core.12345', 'src/lib.rs.orig'],
      throwaway: ['test_output.txt', 'parser_repro.rs'],
    },
  },
  {
    name: 'java library on maven and gradle',
    tracked: ['pom.xml', 'core/build.gradle.kts', 'core/src/main/java/A.java'],
    keep: ['core/src/main/java/build/Builder.java', 'core/src/test/java/ATest.java', 'gradle/libs.versions.toml'],
    hold: {
      directory: ['target/classes/A.class', 'core/build/libs/core.jar', 'core/.gradle/x.lock'],
      dropping: ['core/bin/A.class', 'hs_err.log'],
    },
  },
  {
    name: 'c++ program with a cmake tree',
    tracked: ['CMakeLists.txt', 'src/main.cpp'],
    keep: ['src/shape.cpp', 'include/shape.h', 'build/README-packaging.txt', 'cmake/FindFoo.cmake'],
    hold: {
      directory: ['out/CMakeCache.txt', 'out/Makefile', 'out/CMakeFiles/x.txt'],
      dropping: ['a.out', 'prog', 'gmon.out', 'src/shape.o'],
    },
    contents: { prog: PROGRAM },
  },
  {
    name: 'python distribution that was built once',
    tracked: ['pyproject.toml', 'src/app/__init__.py', 'tests/test_app.py'],
    keep: ['src/app/build/steps.py', 'src/app/dist_info.py', 'tests/test_steps.py', 'scripts/build.sh'],
    hold: {
      directory: ['dist/app-1.0-py3-none-any.whl', 'build/lib/app/__init__.py', 'src/app.egg-info/PKG-INFO'],
      throwaway: ['run_test_tmp.sh', 'clean-temp.py'],
    },
  },
  {
    name: 'github action with its bundle',
    tracked: ['package.json', 'action.yml', 'dist/index.js', 'src/main.ts'],
    keep: ['dist/index.js.map', 'src/inputs.ts', 'test/inputs.test.ts'],
    hold: { directory: ['node_modules/x/i.js', 'dist-tmp/index.js'], throwaway: ['tmp-test.mjs'] },
  },
];
