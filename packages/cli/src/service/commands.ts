import type { Command } from '../command.ts'
import { serviceCommand } from './service-command.ts'

export const SERVICE: readonly Command[] = [
  serviceCommand({
    name: 'serve',
    summary: 'the durable retry service',
    examples: [
      'serve --data /var/lib/secondwind',
      'serve --allow-target ledger.internal:8080 --allow-target 10.1.0.0/16',
    ],
  }),
  serviceCommand({
    name: 'dev',
    summary: 'the same for trying it out: practice endpoints, and targets on this machine',
    examples: ['dev', 'dev --port 4800 --data ./try-it'],
  }),
]
