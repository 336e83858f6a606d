/** Colours for a terminal that wants them; words and figures say the same without. */
export type Paint = (text: string) => string

export interface Colours {
  readonly bold: Paint
  readonly quiet: Paint
  readonly orange: Paint
  readonly teal: Paint
}

interface Terminal {
  readonly isTTY?: boolean
  readonly environment: { readonly [name: string]: string | undefined }
}

/** https://no-color.org: any value that is not empty means no. */
export function coloursFor({ isTTY = false, environment }: Terminal): Colours {
  const isWanted = isTTY && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb'
  const paint = (code: string): Paint => (isWanted ? text => `\u001b[${code}m${text}\u001b[0m` : text => text)
  return { bold: paint('1'), quiet: paint('2'), orange: paint('38;5;208'), teal: paint('38;5;37') }
}
