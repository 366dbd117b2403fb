/**
 * Draws the screens of svc as SVG pictures in four widths, dark and light: `npm run screens`, or with names of screens, and
 * with `-- --png` also as PNG where Chromium is installed. The drawing functions get example values; nothing is started.
 * Also writes the picture of the README.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { exampleScreens, WIDTHS } from './screens/examples.ts'
import { toSvg, type PictureTheme } from './screens/svg.ts'

const DIRECTORY = resolve(import.meta.dirname, '../pictures')
const CARD = resolve(import.meta.dirname, '../docs/card.svg')

mkdirSync(DIRECTORY, { recursive: true })
const asPng = process.argv.includes('--png')
const wanted = process.argv.slice(2).filter((each) => each !== '--png')
for (const [name, draw] of Object.entries(exampleScreens)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  for (const width of WIDTHS)
    for (const theme of ['dark', 'light'] satisfies PictureTheme[])
      savePicture(join(DIRECTORY, `${name}-${width}-${theme}`), toSvg(draw(width), width, theme))
}
if (wanted.length === 0) writeFileSync(CARD, toSvg(exampleScreens['card']!(100), 100, 'dark'))

function savePicture(path: string, svg: string): void {
  writeFileSync(`${path}.svg`, svg)
  if (!asPng) return
  const [, width, height] = /width="(\d+)" height="(\d+)"/.exec(svg)!
  const options = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    `--window-size=${width},${height}`,
  ]
  const { error } = spawnSync('chromium', [...options, `--screenshot=${path}.png`, `file://${path}.svg`])
  if (error) throw new Error('Chromium is not installed; the SVG pictures need none.')
}
