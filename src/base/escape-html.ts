const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** A text as HTML shows it, in content and in attributes with double quotes. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (char) => NAMED[char] ?? char)
