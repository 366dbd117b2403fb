import type { View } from './view.ts'

/** Outlines on a grid of 16, drawn with the colour of the text. */
const PATHS = {
  inbox: 'M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5v3h11v-3M2.5 9.5 4.5 3.5h7l2 6',
  runs: 'M3 3.5h10M3 8h7M3 12.5h4',
  agents: 'M8 2.5 13.5 5.5v5L8 13.5 2.5 10.5v-5zM2.5 5.5 8 8.5l5.5-3M8 8.5v5',
  policies: 'M8 2 13 4v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4zM5.8 8l1.5 1.5L10.4 6.4',
  files: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  costs: 'M3 13V8M6.3 13V4.5M9.6 13V6.5M13 13V3',
  admin:
    'M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4',
  try: 'M4.5 3 12.5 8l-8 5z',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.3 3.3',
  check: 'M3.2 8.5 6.4 11.5 12.8 4.8',
  cross: 'M4 4l8 8M12 4l-8 8',
  clock: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 5v3.2l2.2 1.6',
  warning: 'M8 2.3 14.2 13.2H1.8zM8 6.4v3.2M8 11.3v.4',
  bolt: 'M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z',
  pencil: 'M3 13l.7-3L10.6 3.2l2.2 2.2L6 12.3z',
  person: 'M8 3a2.4 2.4 0 1 0 0 4.8A2.4 2.4 0 0 0 8 3zM3.2 13.2c.5-2.6 2.3-4 4.8-4s4.3 1.4 4.8 4',
  stop: 'M4 4h8v8H4z',
  right: 'M6 3.5 10.5 8 6 12.5',
  left: 'M10 3.5 5.5 8 10 12.5',
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  dot: 'M8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  moon: 'M12.8 9.6A5.2 5.2 0 0 1 6.4 3.2 5.2 5.2 0 1 0 12.8 9.6z',
  out: 'M6.5 3H3v10h3.5M7 8h6M10.5 5.2 13.3 8l-2.8 2.8',
  message: 'M2.8 3.5h10.4v7H8l-3 2.5v-2.5H2.8z',
  tool: 'M9.7 3.2a3 3 0 0 0 3.2 4L6.3 13.2 2.9 9.8 8.7 3.9z',
  model: 'M8 2.5 9.4 6.6 13.5 8 9.4 9.4 8 13.5 6.6 9.4 2.5 8l4.1-1.4z',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { readonly name: IconName }): View => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
)
