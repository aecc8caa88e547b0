/**
 * The object with some members replaced; all others remain those of the original, whatever it sets later. A spread
 * would lose the methods, getters and private state of n8n's contexts, which are instances of classes.
 */
export function withMembers<T extends object>(target: T, members: Partial<T>): T {
	return Object.create(target, Object.getOwnPropertyDescriptors(members)) as T;
}
