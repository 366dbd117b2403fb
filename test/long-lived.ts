/**
 * In a test file that imports this first, regular expressions run as in a server that has run for long: once many are compiled, V8
 * optimizes no more of them, and one that repeats over megabytes runs out of stack, with a RangeError that looks like a fault of whatever
 * was being done.
 */
import v8 from 'node:v8'

v8.setFlagsFromString('--no-regexp-optimization')
