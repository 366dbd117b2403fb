import { clockTime, describeAge, exactTime, now } from '../wire/moment.ts'
import { html, type View } from './html.ts'

/** A moment as its distance from now; exactly in the title. */
export const Age = ({ at }: { readonly at: string | number }): View => {
  const moment = typeof at === 'number' ? at : Date.parse(at)
  return html`<time datetime=${new Date(moment).toISOString()} title=${exactTime(moment)}
    >${describeAge(moment, now.value)}</time
  >`
}

/** A moment as the time of its day. */
export const TimeOfDay = ({ at }: { readonly at: string | number }): View => {
  const moment = typeof at === 'number' ? at : Date.parse(at)
  return html`<time datetime=${new Date(moment).toISOString()} title=${exactTime(moment)}
    >${clockTime(moment, Date.now())}</time
  >`
}
