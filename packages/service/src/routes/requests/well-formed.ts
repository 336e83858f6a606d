/** Of ES2024, which every Node has that runs this. */
interface Text {
  isWellFormed(): boolean
}

/** Whether a text can be written in UTF-8 as it is: JSON can hold half of a surrogate pair, which would be replaced. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as Text).isWellFormed()
}
