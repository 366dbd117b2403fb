/** A number with its noun: `1 file`, `2 files`. */
export const countNoun = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
