/**
 * Draws the screens of svc as SVG pictures in four widths, dark and light: `npm run screens`, or with names of screens, and
 * with `-- --png` also as PNG where Chromium is installed. The card has example values, and is also the picture of the
 * README; all others are recorded from the built program at work, which needs tmux. `npm run screens -- film` writes the
 * recording of `svc demo` that the README shows.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { drawExampleCard } from './screens/example-card.ts'
import { toAnimatedSvg } from './screens/animation.ts'
import { RECORDED_SCREENS, recordDemo, recordScreens } from './screens/recorded.ts'
import { toSvg, type PictureTheme } from './screens/svg.ts'

const WIDTHS = [40, 60, 80, 120] as const
const DIRECTORY = resolve(import.meta.dirname, '../pictures')
const CARD = resolve(import.meta.dirname, '../docs/card.svg')
const FILM = resolve(import.meta.dirname, '../docs/demo.svg')
const FILM_SIZE = { width: 100, height: 34 }

mkdirSync(DIRECTORY, { recursive: true })
const asPng = process.argv.includes('--png')
const named = process.argv.slice(2).filter((each) => each !== '--png')
const wanted = new Set(named.length > 0 ? named : ['card', ...RECORDED_SCREENS])
if (wanted.has('card')) {
  for (const width of WIDTHS) saveScreen('card', width, drawExampleCard(width))
  writeFileSync(CARD, toSvg(drawExampleCard(100), 100, 'dark'))
}
if (wanted.has('film')) writeFileSync(FILM, toAnimatedSvg(await recordDemo(FILM_SIZE), FILM_SIZE, 'dark'))
await recordScreens(wanted, WIDTHS, saveScreen)

function saveScreen(name: string, width: number, lines: readonly string[]): void {
  for (const theme of ['dark', 'light'] satisfies PictureTheme[])
    savePicture(join(DIRECTORY, `${name}-${width}-${theme}`), toSvg(lines, width, theme))
}

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
