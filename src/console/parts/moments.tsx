import { shortDuration } from '../../base/text/short-text.ts'
import { clockTime, describeAge, exactTime, now, serverTime } from '../wire/moment.ts'
import type { View } from './view.ts'
import { useSignal } from '../wire/use-signal.ts'

/** A moment as its distance from now; exactly in the title. */
export const Age = ({ at }: { readonly at: string | number }): View => {
  const moment = typeof at === 'number' ? at : Date.parse(at)
  return (
    <time datetime={new Date(moment).toISOString()} title={exactTime(moment)}>
      {describeAge(moment, useSignal(now))}
    </time>
  )
}

/** How long something took; counts on while it goes on. */
export const TimeTaken = ({ from, until }: { readonly from: string; readonly until: string | null }): string => {
  const time = useSignal(now)
  return shortDuration((until === null ? time : Date.parse(until)) - Date.parse(from))
}

/** A moment as the time of its day. */
export const TimeOfDay = ({ at }: { readonly at: string | number }): View => {
  const moment = typeof at === 'number' ? at : Date.parse(at)
  return (
    <time datetime={new Date(moment).toISOString()} title={exactTime(moment)}>
      {clockTime(moment, serverTime())}
    </time>
  )
}

/** Copied text has moments exactly: how long ago they were says nothing to whoever reads it later. */
export const copyExactTimes = (): void =>
  document.addEventListener('copy', (event) => {
    const selection = getSelection()
    const times = selection?.rangeCount ? selection.getRangeAt(0).cloneContents().querySelectorAll('time') : []
    if (times.length === 0) return
    let text = String(selection)
    for (const { textContent, title } of times) text = text.replace(textContent, title)
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
  })
