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

	/** @throws the error of reading, now and again in the item's turn */
	readEarly(item: number): Value {
		const result = this.early.get(item) ?? this.attempt(item);
		this.early.set(item, result);
		if ('error' in result) throw result.error;
		return result.value;
	}

	/** Reads an item in its turn, and releases its early result. */
	readInTurn(item: number): Value {
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
