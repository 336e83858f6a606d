/** A line to type next, as it works where this program was started. */
export function asTypedHere(line: string, environment?: NodeJS.ProcessEnv): string {
  return line.replace(/^secondwind(?= )/, programName(environment))
}

/** What this program is typed as: npm, which puts it into no shell's path, says of what it starts that it did. */
function programName(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['npm_lifecycle_event'] === undefined ? 'secondwind' : 'npx secondwind'
}
