/**
 * What comes from elsewhere may hold characters that steer a terminal: take lines back, turn the order of letters round, set
 * its title. They are shown and not obeyed; what this program itself tells a terminal is known, and goes through.
 */
import type { Terminal } from './terminal.ts'

/** C0, DEL and C1, the two line separators, and what turns the order of letters round (Unicode UAX #9). */
const CONTROLS = String.raw`\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069`
const CONTROL = new RegExp(`[${CONTROLS}]`, 'g')
/** The colours of our pages; a control that is none of them is the named group. */
const COLOR = String.raw`\u001B\[(?:1|2|22|31|32|33|36|39)m`
const FOREIGN = new RegExp(String.raw`${COLOR}|(?<control>(?![\n\t])[${CONTROLS}])`, 'g')
/** How a page or a bar is drawn anew: only at the beginning of what is written, where nothing from elsewhere stands. */
// oxlint-disable-next-line no-control-regex -- it is about them
const REDRAW = /^(?:\u001B\[\d+A\u001B\[J|\r\u001B\[K)/

/** A text that stands in one line: line breaks and tabs are shown, too. */
export function visible(text: string): string {
  return text.replaceAll(CONTROL, shown)
}

/** A text of several lines as one of them: what is white in it parts words, and no more. */
export function inOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

/** A text of several lines, in which our own colours stay. */
export function visibleLines(text: string): string {
  return text.replaceAll(FOREIGN, (found, control?: string) => (control === undefined ? found : shown(control)))
}

/** The same terminal, which obeys nobody but this program. */
export function guarded<Guarded extends Pick<Terminal, 'write' | 'writeOrLose' | 'tell' | 'ask'>>(
  terminal: Guarded,
): Guarded {
  const { ask } = terminal
  return {
    ...terminal,
    write: data => terminal.write(guardedText(data)),
    writeOrLose: (data, onEnd) => terminal.writeOrLose(guardedText(data), onEnd),
    tell: conversation => terminal.tell(guardedText(conversation)),
    ...(ask && { ask: (question: string) => ask(visibleLines(question)) }),
  }
}

function guardedText(text: string): string {
  const [redraw = ''] = REDRAW.exec(text) ?? []
  return redraw + visibleLines(text.slice(redraw.length))
}

/** As JSON would write whatever it leaves as it is: in a document these words are still the same value. */
function shown(control: string): string {
  const code = control.codePointAt(0)!.toString(16)
  return control < ' ' ? String.raw`\x${code.padStart(2, '0')}` : String.raw`\u${code.padStart(4, '0')}`
}
