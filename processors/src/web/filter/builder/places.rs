//! Keeps containers in order: what is in them is where it may be.

use super::{Builder, Held};
use crate::web::filter::document::{Block, Container, Leaf, LeafKind};

impl Builder<'_> {
    pub(super) fn put(&mut self, mut leaf: Leaf) {
        let n_implied = self.imply();
        let next = self.siblings.next.take();
        self.beside(next.is_some());
        let in_flow = matches!(
            self.containers.last().map(|held| held.container),
            None | Some(Container::Quote)
        );
        let behind_text = matches!(
            self.document.blocks.last(),
            Some(Block::Leaf(Leaf { kind: LeafKind::Text, .. }))
        );
        if leaf.kind == LeafKind::Text && (in_flow || behind_text) {
            leaf.kind = LeafKind::Paragraph;
        }
        if let Some(next) = next {
            self.siblings.add(next, self.document.blocks.len());
        }
        self.document.blocks.push(Block::Leaf(leaf));
        self.text_start = self.document.text.len();
        self.piece_start = self.text_start;
        self.pieces_start = self.document.pieces.len();
        for _ in 0..n_implied {
            self.end_last();
        }
    }

    /// Opens what has to be between the innermost container and a leaf or a container of flow.
    fn imply(&mut self) -> usize {
        let between: &[Container] = match self.containers.last().map(|held| held.container) {
            Some(Container::List { .. }) => &[Container::Item],
            Some(Container::Definitions) => &[Container::Definition],
            Some(Container::Table) => &[Container::Row, Container::Cell { heading: false }],
            Some(Container::Row) => &[Container::Cell { heading: false }],
            _ => &[],
        };
        for container in between {
            self.document.blocks.push(Block::Open(*container));
            self.containers.push(Held { container: *container, implied: true });
        }
        between.len()
    }

    /// Opens a container, unless it cannot be where it would be.
    pub(in crate::web::filter) fn open(&mut self, container: Container) -> bool {
        self.flush();
        let above = self.containers.last().map(|held| held.container);
        let fits = match container {
            Container::Item => matches!(above, Some(Container::List { .. })),
            Container::Term | Container::Definition => above == Some(Container::Definitions),
            Container::Row => above == Some(Container::Table),
            Container::Caption => {
                above == Some(Container::Table)
                    && self.document.blocks.last() == Some(&Block::Open(Container::Table))
            }
            Container::Cell { .. } => above == Some(Container::Row),
            _ => {
                self.imply();
                true
            }
        };
        if fits {
            self.document.blocks.push(Block::Open(container));
            self.containers.push(Held { container, implied: false });
        }
        fits
    }

    /// Closes a container that was opened, and what had to be around it.
    pub(in crate::web::filter) fn close(&mut self, container: Container) {
        self.flush();
        debug_assert_eq!(self.containers.last().map(|held| held.container), Some(container));
        self.end_last();
        while self.containers.last().is_some_and(|held| held.implied) {
            self.end_last();
        }
    }

    /// Ends the innermost container; one with nothing in it was never there.
    fn end_last(&mut self) {
        let Some(Held { container, .. }) = self.containers.pop() else { return };
        let blocks = &mut self.document.blocks;
        let empty = match container {
            // Its neighbours would move.
            Container::Cell { .. } => false,
            Container::Row => {
                let is_cell = |block: &&Block| {
                    matches!(
                        block,
                        Block::Open(Container::Cell { .. }) | Block::Close(Container::Cell { .. })
                    )
                };
                let n_cells = blocks.iter().rev().take_while(is_cell).count();
                let row = blocks.len().checked_sub(n_cells + 1);
                let open = row.filter(|row| blocks.get(*row) == Some(&Block::Open(container)));
                if let Some(row) = open {
                    blocks.truncate(row + 1);
                }
                open.is_some()
            }
            _ => blocks.last() == Some(&Block::Open(container)),
        };
        if empty {
            blocks.pop();
        } else {
            blocks.push(Block::Close(container));
        }
    }
}
