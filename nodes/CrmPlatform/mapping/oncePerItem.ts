/**
 * Reads an item at most once until its turn, although a look-up may need it earlier: an expression that changes its item
 * would return something else the second time.
 */
export class OncePerItem<Value> {
	private readonly read: (item: number) => Value;
	/** Results that were read early, until the item's turn. */
	private readonly early = new Map<number, { value: Value } | { error: unknown }>();

	constructor(read: (item: number) => Value) {
		this.read = read;
	}

	/** Reads an item, and keeps the result until it is taken. @throws the error of reading, now and when it is taken */
	peek(item: number): Value {
		const result = this.early.get(item) ?? this.attempt(item);
		this.early.set(item, result);
		if ('error' in result) throw result.error;
		return result.value;
	}

	/** Returns the result for an item, and forgets it. @throws the error of reading */
	take(item: number): Value {
		const result = this.early.get(item);
		this.early.delete(item);
		if (!result) return this.read(item);
		if ('error' in result) throw result.error;
		return result.value;
	}

	private attempt(item: number): { value: Value } | { error: unknown } {
		try {
			return { value: this.read(item) };
		} catch (error) {
			return { error };
		}
	}
}
