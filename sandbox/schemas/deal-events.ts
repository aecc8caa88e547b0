interface InStage {
	stage_id: string | null;
	status: string;
}

const becomes = (status: string, description: string) => ({
	description,
	when: (deal: InStage, previous: InStage | undefined) =>
		deal.status === status && previous?.status !== status,
});

/** What is told of a deal, beside that it changed: its way through the stages. */
export const dealEvents = {
	stage_changed: {
		description: 'A deal was moved to another stage.',
		when: (deal: InStage, previous: InStage | undefined) =>
			previous !== undefined && deal.stage_id !== previous.stage_id,
	},
	won: becomes('won', 'A deal was won.'),
	lost: becomes('lost', 'A deal was lost.'),
	reopened: {
		description: 'A deal that was won or lost is open again.',
		when: (deal: InStage, previous: InStage | undefined) =>
			previous !== undefined && deal.status === 'open' && previous.status !== 'open',
	},
};
