export { coerceStrings, type StringValues } from './coerce-strings';
export { describeConfig, type ConfigRow } from './describe-config';
export { Env, type EnvOptions } from './env.decorator';
export { configError } from './errors';
export { loadConfig, secretsOf, type Environment } from './load-config';
export { parseDto, type ParseDtoOptions } from './parse-dto';
export { LOG_LEVELS, ServiceConfig, type LogLevelName } from './service.config';
