/** The service as a program starts it, and the words of its tasks. */
export { backUp, type BackupAsk } from './backup.ts'
export { checkBackup, type BackupReading } from './check-backup.ts'
export { CONFIG_SETTING, DEFAULT_CONFIG, readConfig, SETTINGS, variableOf } from './config.ts'
export type { ConfigCheck, GivenSettings, ServiceConfig, Setting, StoreKind } from './config.ts'
export { startService, type Service, type ServiceOptions } from './service.ts'
export { StartFailure } from './start-failure.ts'
export type * from './telemetry/events.ts'
export type * from './task/task.ts'
