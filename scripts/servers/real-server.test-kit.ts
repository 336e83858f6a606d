import { MissingProgramError } from './missing.ts'

/** The server, or undefined where it cannot be had: that is said aloud, and with CI=true it is a failure. */
export async function startOrSay<Started>(start: () => Promise<Started>): Promise<Started | undefined> {
  try {
    return await start()
  } catch (error) {
    if (!(error instanceof MissingProgramError) || process.env['CI'] === 'true') throw error
    console.log(`skipped: ${error.message}`)
    return undefined
  }
}
