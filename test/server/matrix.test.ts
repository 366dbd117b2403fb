import { accessMatrix } from './access-matrix.ts'

accessMatrix()
