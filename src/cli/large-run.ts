/** Whether this run has gone through more of a command's code than most do: what was compiled for it is worth keeping (`start.ts`). */
let isLarge = false

export const tellLargeRun = (): void => {
  isLarge = true
}

export const wasLargeRun = (): boolean => isLarge
