import { existsSync } from 'node:fs'

const INSTALLED = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']

/**
 * The browser of the tests: what `CHROMIUM` names, or Debian's Chromium; the one without windows first, which takes half of the
 * processor's time. Absent where none is installed.
 */
export const chromiumPath: string | undefined = [process.env['CHROMIUM'] ?? INSTALLED].flat().find(existsSync)
