/** Whether all generated cases are tried: `npm run check:long` sets it. */
export const isLong = process.env['SVC_TEST_LONG'] === '1'

/** @returns how many of so many generated cases a run tries: all of them in a long run, else a quarter */
export const cases = (all: number): number => (isLong ? all : Math.max(1, Math.ceil(all / 4)))
