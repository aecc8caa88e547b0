import type { DealInStage } from './deal-actions.ts';

type Deal = Pick<DealInStage, 'stage_id' | 'status'>;

const becomes = (status: Deal['status'], description: string) => ({
	description,
	when: (deal: Deal, previous: Deal | undefined) =>
		deal.status === status && previous?.status !== status,
});

/** The events of a deal besides created, updated and deleted. */
export const dealEvents = {
	stage_changed: {
		description: 'A deal was moved to another stage.',
		when: (deal: Deal, previous: Deal | undefined) =>
			previous !== undefined && deal.stage_id !== previous.stage_id,
	},
	won: becomes('won', 'A deal was won.'),
	lost: becomes('lost', 'A deal was lost.'),
	reopened: {
		description: 'A won or lost deal was reopened.',
		when: (deal: Deal, previous: Deal | undefined) =>
			previous !== undefined && deal.status === 'open' && previous.status !== 'open',
	},
};
