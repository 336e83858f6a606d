// Builds start from nothing: tsc trusts its build info even when dist is gone, and keeps the output of deleted sources.
import { globSync, rmSync } from 'node:fs'

for (const folder of globSync('packages/*/{dist,.build-info}')) rmSync(folder, { recursive: true })
