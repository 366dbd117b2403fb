import { html, type View } from '../parts/html.ts'
export const RunsScreen = (): View => html`<p>runs</p>`
