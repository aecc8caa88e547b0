/** SQLITE_CONSTRAINT_UNIQUE (https://sqlite.org/rescode.html#constraint_unique). */
const uniqueConstraint = 2067;

/** Whether a unique index has refused a row. Nothing of the row was written. */
export const isUniqueViolation = (error: unknown): boolean =>
	typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === uniqueConstraint;
