import { loadConfig } from '@inquest/config';
import { toDomainError } from '@inquest/kernel';
import { writeReadyFile } from './ready-file';
import { readScenario } from './scenario-file';
import { ScriptedModelConfig } from './scripted-model.config';
import { ScriptedModelServer } from './scripted-model.server';

async function main(): Promise<void> {
  const config = loadConfig(ScriptedModelConfig);
  const server = new ScriptedModelServer({
    host: config.httpHost,
    port: config.httpPort,
    scenario: await readScenario(config.scenario),
    key: config.key ?? null,
  });
  const url = await server.listen();
  const stop = (): void => void server.close();
  process.once('SIGTERM', stop).once('SIGINT', stop);
  if (config.readyFile !== undefined) await writeReadyFile(config.readyFile, url);
  process.stderr.write(`the scripted model plays ${config.scenario} at ${url}/v1\n`);
}

main().catch((e: unknown) => {
  const { code, message, remediation } = toDomainError(e);
  process.stderr.write(`${code}: ${message}. ${remediation}\n`);
  process.exitCode = 1;
});
