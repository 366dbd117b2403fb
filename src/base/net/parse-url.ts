/**
 * @returns undefined for a text that is no URL. `URL.canParse` is not asked: in Node 20 it refuses letters such as ü once it was called
 *   some thousand times, so that the same text is a URL and is none
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
