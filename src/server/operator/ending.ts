/** The end of an id as the store searches for it: hexadecimal digits without dashes. */
export const toEnding = (text: string): string => text.replaceAll('-', '').toLowerCase()
