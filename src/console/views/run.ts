import { html, type View } from '../parts/html.ts'
export const RunScreen = (): View => html`<p>run</p>`
