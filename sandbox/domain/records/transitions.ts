import { Problem } from '../../core/foundation/problem.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';

/**
 * Refuses a transition that the resource does not allow. A new record may start in any state, so
 * that records can be imported from another system unchanged.
 *
 * @throws Problem invalid_state_transition
 */
export function refuseIllegalTransition(
	{ states, object }: Resource,
	stored: StoredRecord | undefined,
	values: Record<string, unknown>,
): void {
	if (!states || !stored) return;
	const from = String(stored[states.field]);
	const to = String(values[states.field]);
	const allowed = states.transitions[from] ?? [];
	if (from === to || allowed.includes(to)) return;
	const hint = allowed.length > 0 ? `It can become: ${allowed.join(', ')}.` : 'This state is final.';
	throw new Problem(
		'invalid_state_transition',
		`A ${object.replaceAll('_', ' ')} that is ${from} cannot become ${to}. ${hint}`,
		{ members: { from, to, allowed } },
	);
}
