import type { Command } from '../command.ts'
import { auditCommand } from './audit.ts'
import { KEYS } from './keys.ts'
import { SECRETS } from './secrets.ts'
import { TENANTS } from './tenants.ts'

export const ACCESS: readonly Command[] = [...KEYS, ...SECRETS, ...TENANTS, auditCommand]
