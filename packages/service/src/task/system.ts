/** Who did something that nobody asked for: the service itself, by a rule that somebody has set. */
export const SYSTEM = 'system'
