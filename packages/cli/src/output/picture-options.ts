import { drawSvg, drawText, type Ink, type Picture } from '@secondwind/lab'
import type { Option } from '../command.ts'
import { optional, text, type Reader } from '../input/read-options.ts'
import type { Colors, Page } from '../terminal/page.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { writeOutput } from './write-output.ts'

export const REPORT_OPTION: Option = { flag: '--html <file>', say: 'write a report to a file' }

/** What every command that draws takes. */
export const PICTURE_OPTIONS: readonly Option[] = [
  { flag: '--svg <file>', say: 'write the picture to a file' },
  { flag: '--ascii', say: 'draw with plain characters' },
]

export const svgFile: Reader<string | undefined> = optional(text())
export const htmlFile: Reader<string | undefined> = optional(text())

/** What has no colour here stands in that of the terminal. */
const INKS: {
  readonly [ink in Ink]?: keyof Pick<Colors, 'dim' | 'bold' | 'cyan' | 'yellow' | 'magenta' | 'red' | 'green'>
} = {
  title: 'bold',
  axis: 'dim',
  first: 'cyan',
  retries: 'yellow',
  hedges: 'magenta',
  capacity: 'red',
  one: 'yellow',
  other: 'cyan',
  failed: 'red',
  succeeded: 'green',
}

export function drawOn({ columns, isAscii, colors }: Page, picture: Picture): string {
  const paint = (text: string, ink: Ink): string => {
    const color = INKS[ink]
    return color === undefined ? text : colors[color](text)
  }
  return drawText(picture, { columns, ascii: isAscii, paint }).replaceAll(/ +$/gm, '').trimEnd()
}

/** Writes the picture where somebody asked for it, and says so. */
export async function writePicture(file: string | undefined, picture: Picture, { tell }: Teller): Promise<void> {
  if (file === undefined) return
  await writeOutput(file, drawSvg(picture))
  tell(`wrote ${file}\n`)
}

/** The same for a report. */
export async function writeReport(file: string | undefined, report: () => string, { tell }: Teller): Promise<void> {
  if (file === undefined) return
  await writeOutput(file, report())
  tell(`wrote ${file}\n`)
}

type Teller = Pick<Terminal, 'tell'>
