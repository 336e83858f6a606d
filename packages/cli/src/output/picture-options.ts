import { drawSvg, drawText, type Ink, type Picture } from '@secondwind/lab'
import type { Option } from '../command.ts'
import type { Colors, Page } from '../terminal/page.ts'
import { fileAt, outputPath, type OutputFile } from './output-file.ts'

export const REPORT_OPTION: Option = { flag: '--html <file>', say: 'write a report to a file' }

/** What every command that draws takes. */
export const PICTURE_OPTIONS: readonly Option[] = [{ flag: '--svg <file>', say: 'write the picture to a file' }]

/** Read first with all other options, so that all that is wrong is said at once. */
export const FILE_READERS: { readonly svg: typeof outputPath; readonly html: typeof outputPath } = {
  svg: outputPath,
  html: outputPath,
}

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

/** The picture as a file, where somebody asked for one. */
export function pictureFile(path: string | undefined, picture: Picture): readonly OutputFile[] {
  return fileAt(path, () => drawSvg(picture))
}
